import type { Tool } from "@parley/core";
import type { ExportLine } from "@parley/wire";
import { check, checkEqual } from "../../contract-case.js";
import { gate } from "../../gate.js";
import { type ScriptEntry, text, toolCall, usage } from "../../provider/script.js";
import { only, type RuntimeTopicCase, transcript } from "../world.js";
import { allow, isWaiting, payment, waits } from "./waiting.js";

const done: ScriptEntry[] = [text("Done."), usage(9, 3)];
const asks: ScriptEntry[] = [toolCall("pay", { amount: 3 })];
const dayMs = 24 * 60 * 60_000;

/** Cases of turns that wait while nodes start and stop, and of rules and standing approvals. */
export const waitingNodeCases: RuntimeTopicCase[] = [
  {
    name: "an answer a day later, on another node than the one that asked, continues the turn",
    async run(world) {
      const ran: string[] = [];
      const tools = [payment(ran)];
      const limits = { turnDurationMs: 60_000 };
      const first = await world.node({ script: [asks], tools, limits });
      const { conversationId, turnId, pending } = await waits(world, first);
      await world.pass(first.runtime.close(), "the node that asked is gone");
      if (!world.isTimeReal) await world.advance(dayMs);
      const second = await world.node({ script: [done], tools, limits });
      checkEqual((await second.me.input.pending()).pending.length, 1, "what is pending");
      const follow = await world.joined(second, conversationId);
      checkEqual(follow.state.status, "active", "the status");
      await allow(second, pending[0]);
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      checkEqual(only(follow.events, "done").reason, "stop", "the reason");
      checkEqual(ran, ["3"], "what has run");
      const [metrics] = await second.me.metrics(conversationId);
      if (!world.isTimeReal) check((metrics?.waitedMs ?? 0) >= dayMs, "a day of waiting");
      checkEqual(metrics?.steps.length, 2, "steps");
      await world.log(second, conversationId);
    },
  },
  {
    name: "a node that takes an answer and dies before it acts leaves the call to the next one, which runs it once",
    async run(world) {
      const ran: string[] = [];
      const tools = [payment(ran)];
      const here = await world.node({ script: [asks], tools });
      const there = await world.node({ script: [done], tools });
      const { conversationId, turnId, pending } = await waits(world, here);
      const far = await world.joined(there, conversationId);
      const held = here.faults.hold("readOpenTurn");
      await allow(here, pending[0]);
      await world.pass(held.reached, "the node has the turn and has not begun");
      here.faults.cutOff();
      held.open();
      await world.until(() => far.has("turn-sealed", turnId), "the turn is taken over and ends");
      far.checkOrder();
      checkEqual(only(far.events, "done").reason, "stop", "the reason");
      checkEqual(ran, ["3"], "what has run");
      here.faults.heal();
    },
  },
  {
    name: "a node that dies while an approved call runs leaves it to the tool's recovery, and what waits keeps waiting",
    async run(world) {
      const ran: string[] = [];
      const at = gate();
      const slow = payment(ran, {
        name: "slow",
        execute: async ({ amount }) => {
          ran.push(`slow ${amount}`);
          await at.wait();
          return "late";
        },
      });
      const script = [[toolCall("slow", { amount: 1 }), toolCall("pay", { amount: 2 })]];
      const here = await world.node({ script, tools: [slow, payment(ran)] });
      const there = await world.node({ script: [done], tools: [slow, payment(ran)] });
      const { conversationId, turnId, pending } = await waits(world, here);
      const far = await world.joined(there, conversationId);
      await allow(here, pending[0]);
      await world.pass(at.reached, "the approved call runs");
      here.faults.cutOff();
      await world.until(() => isWaiting(far) && far.has("tool-result"), "the turn is taken over and waits");
      at.open();
      checkEqual(ran, ["slow 1"], "what has run");
      const left = (await there.me.input.pending({ conversationId })).pending;
      checkEqual(
        left.map(({ toolName }) => toolName),
        ["pay"],
        "what is pending",
      );
      await allow(there, left[0]);
      await world.until(() => far.has("turn-sealed", turnId), "the turn is sealed");
      checkEqual(ran, ["slow 1", "2"], "what has run at the end");
      const results = transcript(await world.log(there, conversationId)).filter((line) =>
        line.startsWith("tool"),
      );
      checkEqual(
        results,
        ["tool: [failed: The call was interrupted before it had a result.]", "tool: [paid 2]"],
        "the results",
      );
      here.faults.heal();
    },
  },
  {
    name: "a call that was approved and not started runs on the next node, although another one was lost with the first",
    async run(world) {
      const ran: string[] = [];
      const at = gate();
      const slow: Tool<never> = {
        name: "slow",
        execute: async () => {
          ran.push("slow");
          await at.wait();
          return "late";
        },
      };
      const tools = [slow, payment(ran)];
      const here = await world.node({ script: [[toolCall("slow"), toolCall("pay", { amount: 2 })]], tools });
      const there = await world.node({ script: [done], tools });
      const conversationId = world.id("c");
      await here.me.create({ id: conversationId });
      const { turnId } = await world.start(here, "Hi", { conversationId });
      await world.pass(at.reached, "the other call runs");
      const far = await world.joined(there, conversationId);
      here.faults.cutOff();
      const { pending } = await there.me.input.pending({ conversationId });
      await allow(there, pending[0]);
      await world.until(() => far.has("turn-sealed", turnId), "the turn is taken over and ends");
      at.open();
      checkEqual(only(far.events, "done").reason, "stop", "the reason");
      checkEqual(ran, ["slow", "2"], "what has run");
      here.faults.heal();
    },
  },
  {
    name: "an answer whose outcome is unknown is given again with the same receipt, and the turn continues",
    async run(world) {
      const ran: string[] = [];
      const node = await world.node({ script: [asks, done], tools: [payment(ran)] });
      const { turnId, follow, pending } = await waits(world, node);
      node.faults.fail("respond", "after");
      checkEqual(
        await world.refusal(allow(node, pending[0]), "an answer that is lost"),
        "store_unavailable",
        "the code",
      );
      const again = await allow(node, pending[0]);
      checkEqual([again.repeated, again.response.decision], [true, "allow"], "the receipt");
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      checkEqual(ran, ["3"], "what has run");
    },
  },
  {
    name: "a node that shuts down takes an answer and leaves the turn to another one",
    async run(world) {
      const ran: string[] = [];
      const tools = [payment(ran)];
      const here = await world.node({ script: [asks], tools });
      const { conversationId, turnId, pending } = await waits(world, here);
      await world.pass(here.runtime.drain(), "the node drains");
      await allow(here, pending[0]);
      const there = await world.node({ script: [done], tools });
      await world.turnEvents(there, conversationId, turnId);
      checkEqual(ran, ["3"], "what has run");
    },
  },
  {
    name: "a tool that has changed or is gone since it was approved does not run",
    async run(world) {
      const ran: string[] = [];
      for (const tools of [[payment(ran, { description: "Pays twice" })], []]) {
        const first = await world.node({ script: [asks], tools: [payment(ran)] });
        const { conversationId, turnId, pending } = await waits(world, first);
        await world.pass(first.runtime.close(), "the node that asked is gone");
        const second = await world.node({ script: [done], tools });
        await allow(second, pending[0]);
        const events = await world.turnEvents(second, conversationId, turnId);
        const { content, isError } = only(events, "tool-result");
        check(isError && content.includes("has changed or is gone"), content);
      }
      checkEqual(ran, [], "what has run");
    },
  },
  {
    name: "an approval once per conversation, or a standing one, spares later calls until it is revoked",
    async run(world) {
      const ran: string[] = [];
      const once: Tool<never> = payment(ran, { name: "once", approval: "once" });
      const script = [
        [toolCall("once", { amount: 1 })],
        [toolCall("once", { amount: 2 }), toolCall("pay", { amount: 3 })],
        [toolCall("pay", { amount: 4 })],
        done,
        [toolCall("pay", { amount: 5 })],
        done,
      ];
      const node = await world.node({ script, tools: [once, payment(ran)] });
      const { conversationId, turnId, follow, pending } = await waits(world, node);
      await allow(node, pending[0]);
      await world.until(() => isWaiting(follow) && ran.includes("2"), "the second call of it runs at once");
      const [request] = (await node.me.input.pending({ conversationId })).pending;
      await allow(node, request, { scope: { in: "owner", where: { amount: 3 } } });
      await world.until(() => isWaiting(follow) && ran.includes("3"), "other arguments ask again");
      const [other] = (await node.me.input.pending({ conversationId })).pending;
      await allow(node, other, { scope: { in: "owner" } });
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      const grants = await node.me.input.grants();
      checkEqual(grants.length, 3, "the standing approvals");
      for (const { id, toolName, scope } of grants) {
        if (toolName === "pay" && scope.where === undefined)
          checkEqual(await node.me.input.revoke(id), true, "revoked");
      }
      const next = await world.start(node, "Again");
      const later = await world.joined(node, next.conversationId);
      await world.until(() => isWaiting(later), "a call asks again after it was revoked");
      checkEqual(ran, ["1", "2", "3", "4"], "what has run");
      await node.me.stop(next.conversationId);
      await world.until(() => later.has("turn-sealed"), "the end");
    },
  },
  {
    name: "rules of the host make tools stricter, and watchers learn what waits",
    async run(world) {
      const ran: string[] = [];
      const plain = payment(ran, { approval: "never" });
      const rules = [{ tool: "p*", where: { amount: 3 }, approval: "always" as const, reason: "3 is much" }];
      const node = await world.node({
        script: [[toolCall("pay", { amount: 2 })], asks, done],
        tools: [plain],
        approvals: { rules },
      });
      const statuses: unknown[] = [];
      const stop = await world.pass(
        node.me.watch((event) => {
          if (event.type === "conversation.statusChanged")
            statuses.push(event.waiting?.count ?? event.status);
        }),
        "watching",
      );
      const { turnId, follow, pending } = await waits(world, node);
      checkEqual([ran, pending[0]?.reason], [["2"], "3 is much"], "what ran, and why it asks");
      await world.until(() => statuses.includes(1), "watchers are notified");
      await allow(node, pending[0]);
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      await world.until(() => statuses.at(-1) === "idle", "watchers are notified of the end");
      stop();
    },
  },
  {
    name: "a client that comes by cursor while a turn waits folds the same, and the conversation moves with its entries",
    async run(world) {
      const ran: string[] = [];
      const tools = [payment(ran)];
      const here = await world.node({ script: [asks, done], tools });
      const there = await world.node({ tools });
      const { conversationId, turnId, follow, pending } = await waits(world, here);
      const far = await world.joined(there, conversationId);
      const { cursor } = await there.me.meta(conversationId);
      const late = await world.joined(there, conversationId, cursor);
      await allow(there, pending[0]).catch(() => {});
      await world.until(() => follow.has("turn-sealed", turnId) && far.has("turn-sealed", turnId), "the end");
      await world.until(() => late.state.sealed.has(turnId), "the late client sees the end");
      checkEqual(far.state.chunks, follow.state.chunks, "what both have folded");
      checkEqual(far.lines, follow.lines, "what both show");
      const lines: ExportLine[] = [];
      for await (const line of here.me.exportLines(conversationId))
        lines.push(JSON.parse(JSON.stringify(line)));
      const id = world.id("c");
      await here.me.importLines(lines, { id });
      const [before, after] = [await world.log(here, conversationId), await world.log(here, id)];
      checkEqual(JSON.stringify(after), JSON.stringify(before), "the imported log");
      checkEqual(
        await here.me.input.pending({ conversationId: id }),
        { pending: [] },
        "what is pending in it",
      );
    },
  },
];
