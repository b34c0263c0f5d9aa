import { isParleyError } from "@parley/core/errors";
import { check, checkEqual, checkRejects } from "../../contract-case.js";
import { gate } from "../../gate.js";
import { pause, reasoning, text, toolCall, usage } from "../../provider/script.js";
import { always, ofType, only, type RuntimeTopicCase, transcript } from "../world.js";
import { adder } from "./turns.js";

/** Cases of receipts: one per message, for every caller and every retry. */
export const receiptCases: RuntimeTopicCase[] = [
  {
    name: "a message that is not plain data is refused by its name, and leaves no trace",
    async run(world) {
      const node = await world.node();
      const cycle: Record<string, unknown> = {};
      cycle.self = cycle;
      for (const [what, value] of Object.entries({
        bigint: 10n,
        cycle,
        date: new Date(0),
        none: Number.NaN,
      })) {
        const conversationId = world.id("c");
        const message = [
          { type: "text" as const, text: "Hi" },
          { type: "metadata" as const, data: value },
        ];
        const error = await checkRejects(node.me.send({ conversationId, message }), what);
        check(isParleyError(error), `${what}: not a ParleyError but ${String(error)}`);
        checkEqual([error.code, error.message.split(":")[0]], ["invalid_request", "message"], what);
        const known = await world.refusal(node.me.meta(conversationId), "a conversation that never was");
        checkEqual(known, "conversation_not_found", "the code");
      }
    },
  },
  {
    name: "the same message again gets the same receipt and makes no second turn, while it runs and after",
    async run(world) {
      const at = gate();
      const node = await world.node({ script: always(text("Slow"), pause(at), text("ly.")) });
      const messageId = world.id("m");
      const first = await world.start(node, "Hi", { messageId });
      const again = await node.me.send({ message: "Hi", messageId });
      checkEqual(again, { ...first, repeated: true }, "the receipt while the turn runs");
      at.open();
      await world.turnEvents(node, first.conversationId, first.turnId);
      const later = await node.me.send({ message: "Hi", messageId });
      checkEqual(later, { ...first, repeated: true }, "the receipt after the seal");
      checkEqual(node.provider.calls.length, 1, "calls of the model");
      checkEqual(
        transcript(await world.log(node, first.conversationId)),
        ["user: Hi", "assistant: Slowly."],
        "the log",
      );
    },
  },
  {
    name: "re-attaching to a running turn replays it from its first event, one event per part",
    async run(world) {
      const at = gate();
      const node = await world.node({
        script: [
          [reasoning("abcdef", { size: 1 }), text("ghijkl", { size: 1 }), toolCall("add", { a: 1, b: 1 })],
          [text("mnopqr", { size: 1 }), pause(at), text("stu", { size: 1 })],
        ],
        tools: [adder],
      });
      const { conversationId, turnId } = await world.start(node);
      await at.reached;
      const events = node.me.events(conversationId, turnId)[Symbol.asyncIterator]();
      const seen: string[] = [];
      while (seen.at(-1) !== "text-delta mnopqr") {
        const next = await world.pass(events.next(), "an event of the running turn");
        check(!next.done, `the turn continues, but its events ended after ${seen.join(", ")}`);
        const { event } = next.value;
        seen.push(`${event.type}${"delta" in event ? ` ${event.delta}` : ""}`);
      }
      checkEqual(
        seen.filter((line) => line.includes("delta")),
        ["reasoning-delta abcdef", "text-delta ghijkl", "text-delta mnopqr"],
        "the text that is sent",
      );
      at.open();
      await events.return?.();
      await world.turnEvents(node, conversationId, turnId);
    },
  },
  {
    name: "a sealed turn is replayed with one event per part, and ends as it ended",
    async run(world) {
      const node = await world.node({
        script: [
          [
            reasoning("Hm", { size: 1 }),
            text("Look. ", { size: 1 }),
            toolCall("add", { a: 1, b: 1 }),
            usage(9, 3),
          ],
          [text("Two.", { size: 1 }), usage(12, 4)],
        ],
        tools: [adder],
      });
      const { receipt, events } = await world.turn(node);
      const again = await world.turnEvents(node, receipt.conversationId, receipt.turnId);
      checkEqual(
        ofType(again, "text-delta").map(({ delta }) => delta),
        ["Look. ", "Two."],
        "one text event per part",
      );
      checkEqual(ofType(again, "reasoning-delta").length, 1, "one reasoning event per part");
      const figures = new Set(["user-message", "turn-start", "tool-call", "usage", "step-complete", "done"]);
      const kept = (list: typeof events) =>
        list.filter(({ type }) => figures.has(type) || type === "tool-result" || type === "turn-sealed");
      checkEqual(kept(again), kept(events), "everything else, as it was published");
    },
  },
  {
    name: "the same id with another body is a conflict, and changes nothing",
    async run(world) {
      const node = await world.node();
      const messageId = world.id("m");
      const { receipt } = await world.turn(node, "Hi", { messageId });
      const { conversationId } = receipt;
      for (const other of [{ message: "Bye" }, { message: "Hi", reasoningEffort: "low" as const }]) {
        const code = await world.refusal(
          node.me.send({ conversationId, messageId, ...other }),
          "the same id with another body",
        );
        checkEqual(code, "message_conflict", "the code");
      }
      checkEqual((await world.log(node, conversationId)).length, 2, "the log's length");
    },
  },
  {
    name: "without a conversation id, one follows from owner and message id, and a retry makes no second one",
    async run(world) {
      const node = await world.node();
      const messageId = world.id("m");
      const { receipt } = await world.turn(node, "Hi", { messageId });
      const again = await node.me.send({ message: "Hi", messageId });
      checkEqual(again.conversationId, receipt.conversationId, "the derived id");
      const stranger = node.runtime.forOwner(world.id("owner"));
      const theirs = await stranger.send({ message: "Hi", messageId });
      check(theirs.conversationId !== receipt.conversationId, "another owner gets another conversation");
      checkEqual(theirs.repeated, false, "another owner's message is its own");
      checkEqual((await node.me.list()).conversations.length, 1, "conversations of the owner");
      await world.pass(stranger.last(theirs.conversationId), "the other owner's turn ends");
    },
  },
  {
    name: "an unknown id is created, a closed conversation reopened, another owner's id is as any unknown one",
    async run(world) {
      const node = await world.node();
      const conversationId = world.id("c");
      await world.turn(node, "Hello there", { conversationId });
      checkEqual(
        (await node.me.meta(conversationId)).title,
        "Hello there",
        "the title of a new conversation",
      );
      await node.me.close(conversationId);
      checkEqual((await node.me.meta(conversationId)).status, "closed", "the status of a closed one");
      await world.turn(node, "Back", { conversationId });
      checkEqual((await node.me.meta(conversationId)).status, "idle", "the status after a send");
      const stranger = node.runtime.forOwner(world.id("owner"));
      const receipt = await stranger.send({ conversationId, message: "Mine?" });
      checkEqual([receipt.outcome, receipt.repeated], ["started", false], "a stranger's send");
      await stranger.last(conversationId);
      checkEqual((await stranger.meta(conversationId)).title, "Mine?", "the stranger's conversation");
      checkEqual((await world.log(node, conversationId)).length, 4, "the log's length");
    },
  },
  {
    name: "a send waits in the mode that it names, and opens a turn where none runs",
    async run(world) {
      const at = gate();
      const node = await world.node({ script: (_, index) => (index === 0 ? [pause(at)] : [text("More.")]) });
      const conversationId = world.id("c");
      const outcomes: string[] = [];
      for (const ifBusy of ["queue", "steer", "queue"] as const) {
        const { outcome } = await node.me.send({ conversationId, message: ifBusy, ifBusy });
        outcomes.push(outcome);
      }
      checkEqual(outcomes, ["started", "queued", "queued"], "the outcomes");
      const { messages } = await node.me.queue.list(conversationId);
      checkEqual(
        messages.map(({ mode }) => mode),
        ["steer", "queue"],
        "how they wait",
      );
      at.open();
      await world.until(() => node.provider.calls.length === 3, "every message gets its turn");
      await world.idle(node, conversationId);
    },
  },
  ...(["reject", "queue"] as const).map(
    (ifBusy): RuntimeTopicCase => ({
      name: `100 sends at once give one turn and 99 ${ifBusy === "queue" ? "entries that wait" : "refusals"}`,
      async run(world) {
        const at = gate();
        const node = await world.node({
          script: (_, index) => (index === 0 ? [text("First."), pause(at)] : [text("More.")]),
          limits: { queueLength: 200, runningTurns: 500, runningTurnsPerOwner: 500 },
        });
        const conversationId = world.id("c");
        const sends = Array.from({ length: 100 }, (_, index) =>
          node.me
            .send({
              conversationId,
              messageId: `m${index}`,
              message: `message ${index}`,
              ifBusy,
            })
            .then(
              ({ outcome }) => outcome as string,
              (error: { code: string }) => error.code,
            ),
        );
        const outcomes = await world.pass(Promise.all(sends), "all sends are answered");
        const waits = ifBusy === "queue" ? "queued" : "turn_active";
        const count = (wanted: string) => outcomes.filter((outcome) => outcome === wanted).length;
        checkEqual([count("started"), count(waits)], [1, 99], "outcomes");
        at.open();
        const expected = ifBusy === "queue" ? 100 : 1;
        await world.until(() => node.provider.calls.length === expected, "every message gets its turn");
        await world.idle(node, conversationId);
        const log = await world.log(node, conversationId);
        const texts = log.filter(({ role }) => role === "user").map(({ messageId }) => messageId);
        checkEqual(texts.length, expected, "user messages in the log");
        checkEqual(new Set(texts).size, expected, "different user messages in the log");
      },
    }),
  ),
  {
    name: "messages in parts are taken, with references to their files; empty ones and bad ids are refused",
    async run(world) {
      const node = await world.node();
      const file = { type: "file" as const, mediaType: "text/plain", data: "aGk=", filename: "a.txt" };
      const { receipt } = await world.turn(node, [{ type: "text", text: "See:" }, file]);
      const [first, second] = await world.log(node, receipt.conversationId);
      const kept = second?.chunk.type === "text" ? second.chunk.file : undefined;
      checkEqual(
        [first?.chunk.type, kept?.name, kept?.size],
        ["text", "a.txt", 2],
        "the parts of the message",
      );
      const bad = [
        { message: "" },
        { message: "  \n" },
        { message: [] },
        { message: "Hi", messageId: "a b" },
        { message: "Hi", conversationId: "x/y" },
        { message: "Hi", messageId: "x".repeat(129) },
      ];
      for (const input of bad) {
        const send = (async () => node.me.send(input))();
        checkEqual(await world.refusal(send, JSON.stringify(input)), "invalid_request", "the code");
      }
    },
  },
  {
    name: "the events of a turn that is not there are refused",
    async run(world) {
      const node = await world.node();
      const { receipt } = await world.turn(node);
      const read = async (conversationId: string, turnId: string) => {
        for await (const _ of node.me.events(conversationId, turnId));
      };
      const codes = [
        await world.refusal(read(receipt.conversationId, "nothing"), "an unknown turn"),
        await world.refusal(read(world.id("c"), receipt.turnId), "an unknown conversation"),
      ];
      checkEqual(codes, ["conversation_not_found", "conversation_not_found"], "the codes");
      only(await world.turnEvents(node, receipt.conversationId, receipt.turnId), "done");
    },
  },
];
