import type { EventContext, TurnTakeover } from "@parley/core/runtime";
import type { AgentEvent } from "@parley/wire";
import { check, checkEqual } from "../contract-case.js";
import { hang, reasoning, text, toolCall, usage } from "../provider/script.js";
import { adder } from "./turns/turns.js";
import { ofType, only, type RuntimeTopicCase } from "./world.js";

/** Cases of a host's view of its node: events as they are published, and its health. */
export const observingCases: RuntimeTopicCase[] = [
  {
    name: "a host receives every event of its turns but the increments, in order, and whose it is",
    async run(world) {
      const received: { event: AgentEvent; context: EventContext }[] = [];
      const node = await world.node({
        script: [
          [
            reasoning("Hm.", { size: 1 }),
            text("Sum:", { size: 1 }),
            toolCall("add", { a: 1, b: 2 }),
            usage(3, 3),
          ],
          [text("3"), usage(4, 4)],
        ],
        tools: [adder],
        hooks: { onEvent: (event, context) => received.push({ event, context }) },
      });
      const { events, receipt } = await world.turn(node);
      const increments = ["text-delta", "reasoning-delta", "tool-output"];
      const expected = events.filter(({ type }) => !increments.includes(type) && type !== "status");
      checkEqual(
        received.map(({ event }) => event),
        expected,
        "the events",
      );
      const { conversationId, turnId } = receipt;
      const whose = { owner: world.owner, conversationId, turnId, providerName: "test", model: "test/one" };
      for (const { context } of received) checkEqual(context, whose, "whose event it is");
    },
  },
  {
    name: "a host that throws at an event gets the failure reported, and its turns continue",
    async run(world) {
      const node = await world.node({
        hooks: {
          onEvent() {
            throw new Error("figures are refused");
          },
        },
      });
      const { events } = await world.turn(node);
      checkEqual(only(events, "done").reason, "stop", "the turn");
      check(
        node.errors.some(({ where }) => where === "onEvent"),
        "the failure is reported",
      );
    },
  },
  {
    name: "a turn that was ended for a dead node is published as sealed, once",
    async run(world) {
      const sealed: AgentEvent[] = [];
      const takeovers: TurnTakeover[] = [];
      const here = await world.node({ script: [[text("Half "), hang()]] });
      const { conversationId, turnId } = await world.start(here);
      const follow = await world.joined(here, conversationId);
      await world.until(() => ofType(follow.events, "text-delta").length > 0, "the model writes");
      await world.advance(100);
      here.faults.cutOff();
      await world.node({
        hooks: {
          onEvent: (event) => {
            if (event.type === "turn-sealed") sealed.push(event);
          },
          onTakeover: (takeover) => takeovers.push(takeover),
        },
      });
      await world.until(() => sealed.length > 0, "the turn is ended there");
      const published = sealed.map((event) => event.type === "turn-sealed" && [event.turnId, event.reason]);
      checkEqual(published, [[turnId, "interrupted"]], "what is published");
      await world.until(() => takeovers.length > 0, "the takeover is reported");
      checkEqual(
        takeovers.map(({ owner, turnId: turn, outcome }) => [owner, turn, outcome]),
        [[world.owner, turnId, "sealed"]],
        "the takeover",
      );
    },
  },
  {
    name: "an examination of everything lists the store's areas and the models; a store that is away is a finding",
    async run(world) {
      const node = await world.node();
      const found = await world.pass(node.runtime.examine({ fix: false }), "the look");
      const areas = [
        "files",
        "journal",
        "log",
        "models",
        "nodes",
        "queue",
        "schema",
        "search",
        "store",
        "turns",
        "webhooks",
      ];
      checkEqual([...new Set(found.findings.map(({ area }) => area))].toSorted(), areas, "the areas");
      check(found.healthy, `all is well: ${JSON.stringify(found.findings)}`);
      checkEqual(await node.runtime.check(), { schema: "current" }, "the check");
      node.faults.cutOff();
      const ill = await world.pass(node.runtime.examine({ fix: true }), "the look at a store that is away");
      checkEqual(ill.healthy, false, "whether all is well");
      checkEqual(
        ill.findings.map(({ area, level }) => [area, level]),
        [
          ["store", "error"],
          ["models", "ok"],
        ],
        "the findings",
      );
      checkEqual(await world.refusal(node.runtime.check(), "the check"), "store_unavailable", "the code");
      node.faults.heal();
    },
  },
  {
    name: "keys that one node adds, another one finds",
    async run(world) {
      const [here, there] = [await world.node(), await world.node()];
      const id = world.id("key");
      const key = {
        id,
        owner: world.owner,
        hash: id,
        prefix: "pk_",
        scopes: ["read" as const],
        createdAt: 1,
      };
      await here.runtime.keys.add(key);
      checkEqual(await there.runtime.keys.find(id), key, "the key");
      check(await there.runtime.keys.remove(id), "it is removed");
      checkEqual(await here.runtime.keys.find(id), null, "the key after that");
    },
  },
];
