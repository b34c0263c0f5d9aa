import { check, checkEqual } from "../../contract-case.js";
import { gate } from "../../gate.js";
import { type ScriptEntry, text, toolCall, usage } from "../../provider/script.js";
import { ofType, only, type RuntimeTopicCase, transcript } from "../world.js";
import { allow, isWaiting, payment, waits } from "./waiting.js";

const done: ScriptEntry[] = [text("Done."), usage(9, 3)];
const asks: ScriptEntry[] = [toolCall("pay", { amount: 3 })];

/** Cases of waiting that ends without an answer. */
export const waitingEndCases: RuntimeTopicCase[] = [
  {
    name: "a request that is not answered in time is denied, and the turn continues",
    async run(world) {
      const ran: string[] = [];
      const expiresMs = world.isTimeReal ? 300 : 60_000;
      const approvals = { expiresMs };
      const node = await world.node({ script: [asks, done], tools: [payment(ran)], approvals });
      const { conversationId, turnId, follow, pending } = await waits(world, node);
      check(pending[0]?.expiresAt !== undefined, "the request says until when");
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed", expiresMs + 60_000);
      follow.checkOrder();
      checkEqual(only(follow.events, "input-response").input.via, "expiry", "who decided");
      checkEqual(
        only(follow.events, "tool-result").content,
        "This call was not approved in time. It was not run.",
        "the result",
      );
      checkEqual(
        await world.refusal(allow(node, pending[0]), "a late answer"),
        "already_decided",
        "the code",
      );
      checkEqual(ran, [], "what has run");
      await world.log(node, conversationId);
    },
  },
  {
    name: "an answer that comes too late is refused, and a node continues the turn",
    async run(world) {
      const ran: string[] = [];
      const at = gate();
      // Long enough to be seen before it expires, on a busy machine too.
      const expiresMs = world.isTimeReal ? 500 : 60_000;
      const node = await world.node({
        script: [asks, [toolCall("wait")], done],
        tools: [payment(ran), { name: "wait", execute: () => at.wait() }],
        approvals: { expiresMs },
        // No node searches for expired requests.
        lease: { claimMs: 0 },
      });
      const { conversationId, turnId, follow, pending } = await waits(world, node);
      await world.advance(expiresMs + 10);
      const late = allow(node, pending[0]);
      checkEqual(await world.refusal(late, "a late answer"), "already_decided", "the code");
      await world.pass(at.reached, "the turn goes on");
      const active = (await world.store(world.owner).get(conversationId))?.active;
      check(active?.turnId === turnId && active.node !== "", `held by "${active?.node}"`);
      at.open();
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      checkEqual(only(follow.events, "input-response").input.via, "expiry", "who decided");
      checkEqual(ran, [], "what has run");
    },
  },
  {
    name: "a stop ends a turn that waits at once, and closing does too",
    async run(world) {
      for (const way of ["stop", "close"] as const) {
        const ran: string[] = [];
        const node = await world.node({ script: [asks], tools: [payment(ran)] });
        const { conversationId, turnId, follow, pending } = await waits(world, node);
        checkEqual(await node.me[way](conversationId), { abortedTurn: true }, "the answer");
        const before = world.passedMs;
        await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
        check(world.isTimeReal || world.passedMs - before <= 250, "at once");
        follow.checkOrder();
        checkEqual(only(follow.events, "done").reason, "aborted", "the reason");
        checkEqual(only(follow.events, "input-response").input.via, "stop", "the response");
        checkEqual(
          transcript(await world.log(node, conversationId)).slice(2),
          [
            "system: The call of pay waits for approval",
            "system: The request for pay was not answered before the turn was stopped",
            "tool: [failed: This call was not approved before the turn was stopped. It was not run.]",
          ],
          "the log",
        );
        checkEqual(
          await world.refusal(allow(node, pending[0]), "a late answer"),
          "already_decided",
          "the code",
        );
        checkEqual(await node.me.input.pending(), { pending: [] }, "what is pending");
      }
    },
  },
  {
    name: "sends to a conversation that waits are refused, queued, steered or take the turn's place, as they say",
    async run(world) {
      const ran: string[] = [];
      const node = await world.node({ script: [asks, done, asks, done, done], tools: [payment(ran)] });
      const { conversationId, turnId, follow, pending } = await waits(world, node);
      const refusal = await node.me.send({ conversationId, message: "x" }).catch((error: unknown) => error);
      const { code, details } = refusal as {
        code?: string;
        details?: { requests?: { requestId: string }[] };
      };
      checkEqual(
        [code, details?.requests?.[0]?.requestId],
        ["turn_active", pending[0]?.requestId],
        "the refusal",
      );
      await node.me.send({ conversationId, message: "Also this", ifBusy: "steer" });
      await allow(node, pending[0]);
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      checkEqual(only(follow.events, "steering").text, "Also this", "the steered message");
      const second = await world.start(node, "Again", { conversationId });
      await world.until(() => isWaiting(follow), "the second turn waits");
      await node.me.send({ conversationId, message: "Later", ifBusy: "queue" });
      const third = await world.start(node, "Instead", { conversationId, whenWaiting: "deny" });
      await world.until(() => follow.count("turn-sealed") === 4, "all turns are sealed");
      const reasons = ofType(follow.events, "turn-sealed").map(({ turnId: id, reason }) => [id, reason]);
      checkEqual(
        reasons.slice(1, 3),
        [
          [second.turnId, "aborted"],
          [third.turnId, "stop"],
        ],
        "how they ended",
      );
      checkEqual(ofType(follow.events, "input-response").at(-1)?.input.via, "send", "the response");
      checkEqual((await node.me.queue.list(conversationId)).paused, undefined, "the queue goes on");
      checkEqual(ran, ["3"], "what has run");
      follow.checkOrder();
      await world.log(node, conversationId);
    },
  },
];
