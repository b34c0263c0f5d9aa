import { ParleyError } from "@parley/core/errors";
import type { SealInput } from "@parley/core/ports";
import { check, checkEqual } from "../../contract-case.js";
import { hang, text, toolCall, usage } from "../../provider/script.js";
import { ofType, only, type RuntimeTopicCase, type TestNode, transcript, type World } from "../world.js";

const maxBytes = 2_000;
const long = "y".repeat(5_000);

/** Makes the node's store refuse rows above a size. */
function bound(node: TestNode): void {
  for (const method of ["seal", "commitStep"] as const) {
    node.faults.refuse(method, (input) => {
      const isTooLarge = (input as SealInput).messages.some(
        ({ content }) => JSON.stringify(content).length > maxBytes,
      );
      return isTooLarge ? new ParleyError("too_large", undefined, { details: { maxBytes } }) : undefined;
    });
  }
}

/** Makes the store refuse a number of the node's next seals permanently. */
function refuseSeals(node: TestNode, times: number): void {
  let left = times;
  node.faults.refuse("seal", () => {
    left -= 1;
    return left >= 0 ? new ParleyError("internal", "The disk is on fire") : undefined;
  });
}

async function checkCut(world: World, node: TestNode, conversationId: string): Promise<void> {
  const [asked, answer, error, ...rest] = transcript(await world.log(node, conversationId));
  checkEqual([asked, error, rest], ["user: Hi", "assistant: [error too_large]", []], "the log around it");
  check(answer?.startsWith(`assistant: ${"y".repeat(maxBytes / 2)}`) ?? false, "the beginning of the answer");
  check(answer?.endsWith(`of ${long.length} characters are left out]`) ?? false, "it says that it is cut");
}

async function checkGoesOn(world: World, node: TestNode, conversationId: string): Promise<void> {
  const { events } = await world.turn(node, "Again", { conversationId });
  checkEqual(only(events, "done").reason, "stop", "the reason of the next turn");
}

/** Cases of refused seals: a store that refuses a turn's rows must not keep its conversation open. */
export const refusedSealCases: RuntimeTopicCase[] = [
  {
    name: "an answer that is too large for the store is kept as far as it fits, and its conversation continues",
    async run(world) {
      const node = await world.node({
        script: (_, index) => (index === 0 ? [text(long, { size: 100 }), usage(3, 4)] : [text("Short.")]),
      });
      bound(node);
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const client = await world.joined(node, conversationId);
      const { turnId } = await world.start(node, "Hi", { conversationId });
      await world.until(() => client.has("turn-sealed"), "the turn is sealed");
      client.checkOrder();
      checkEqual(only(client.events, "turn-sealed").reason, "error", "the reason");
      const { metrics } = await node.me.turn(conversationId, turnId);
      checkEqual([metrics?.reason, metrics?.usage.outputTokens], ["error", 4], "the figures");
      await checkCut(world, node, conversationId);
      const log = JSON.stringify(await world.log(node, conversationId));
      await world.until(() => JSON.stringify(client.state.chunks) === log, "a client has the log");
      await checkGoesOn(world, node, conversationId);
    },
  },
  {
    name: "a call that is too large for the store does not run, and leaves no result",
    async run(world) {
      let runs = 0;
      const node = await world.node({
        script: (_, index) =>
          index === 0 ? [text("Writing. "), toolCall("write", { text: long })] : [text("Short.")],
        tools: [{ name: "write", execute: () => String(++runs) }],
      });
      bound(node);
      const { receipt } = await world.turn(node);
      const log = transcript(await world.log(node, receipt.conversationId));
      checkEqual(
        [log, runs],
        [["user: Hi", "assistant: Writing. ", "assistant: [error too_large]"], 0],
        "what is kept",
      );
      await checkGoesOn(world, node, receipt.conversationId);
    },
  },
  {
    name: "a node that takes over an answer that is too large keeps it as far as it fits",
    async run(world) {
      const here = await world.node({ script: [[text(long, { size: 100 }), hang()]] });
      const there = await world.node({ script: [[text("Short.")]] });
      bound(there);
      const conversationId = world.id("c");
      await there.me.create({ id: conversationId });
      const far = await world.joined(there, conversationId);
      await world.start(here, "Hi", { conversationId });
      const received = () =>
        ofType(far.events, "text-delta").reduce((sum, { delta }) => sum + delta.length, 0);
      await world.until(() => received() === long.length, "all of it is in the journal");
      here.faults.cutOff();
      await world.until(() => far.has("turn-sealed"), "the turn is taken over and ends");
      checkEqual(only(far.events, "turn-sealed").reason, "interrupted", "the reason");
      here.faults.heal();
      await checkCut(world, there, conversationId);
      await checkGoesOn(world, there, conversationId);
    },
  },
  {
    name: "a seal that is refused twice is made without its figures, and keeps the whole answer",
    async run(world) {
      const node = await world.node({ script: () => [text("All of it."), usage(3, 4)] });
      refuseSeals(node, 2);
      const { receipt, events } = await world.turn(node);
      const { conversationId } = receipt;
      checkEqual(only(events, "turn-sealed").reason, "stop", "the reason");
      const log = transcript(await world.log(node, conversationId));
      checkEqual(log, ["user: Hi", "assistant: All of it."], "the log");
      const [metrics] = await node.me.metrics(conversationId);
      checkEqual(
        [metrics?.usage.outputTokens, metrics?.steps[0]?.ttftMs],
        [4, undefined],
        "what is left of the figures",
      );
      await checkGoesOn(world, node, conversationId);
    },
  },
  {
    name: "a turn that the store refuses to seal at all is sealed as soon as it does not",
    async run(world) {
      const node = await world.node({ script: () => [text("All of it."), usage(3, 4)] });
      let isRefusing = true;
      let refused = 0;
      node.faults.refuse("seal", () => {
        refused += 1;
        return isRefusing ? new ParleyError("internal", "The disk is on fire") : undefined;
      });
      const { conversationId, turnId } = await world.start(node);
      await world.until(() => node.errors.length >= 4, "every way to seal it is refused, again and again");
      check(refused > 4, `it was tried with less: ${refused} times`);
      isRefusing = false;
      await world.turnEvents(node, conversationId, turnId);
      await checkGoesOn(world, node, conversationId);
    },
  },
  {
    name: "a turn that can be taken over but not read is ended anyway",
    async run(world) {
      const here = await world.node({ script: [[text("Half "), hang()]] });
      const there = await world.node({ script: [[text("Whole.")]] });
      const { conversationId } = await world.start(here);
      there.faults.refuse("readOpenTurn", () => new ParleyError("internal", "The disk is on fire"));
      here.faults.cutOff();
      await world.idle(there, conversationId);
      here.faults.heal();
      there.faults.heal();
      await checkGoesOn(world, there, conversationId);
    },
  },
];
