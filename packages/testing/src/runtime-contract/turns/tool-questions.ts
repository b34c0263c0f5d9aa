import type { Tool, ToolAnswer } from "@parley/core";
import { check, checkEqual } from "../../contract-case.js";
import { type ScriptEntry, text, toolCall, usage } from "../../provider/script.js";
import type { Follow } from "../follow.js";
import { ofType, only, type RuntimeTopicCase, type TestNode, transcript, type World } from "../world.js";
import { allow, isWaiting, payment } from "./waiting.js";

const done: ScriptEntry[] = [text("Done."), usage(9, 3)];
const books: ScriptEntry[] = [toolCall("book", { to: "Oslo" }, { id: "k" })];
const seat = { type: "string", enum: ["aisle", "window"] };

/** Creates a tool that asks for a seat while it runs, and keeps the answers. */
function booking(answers: ToolAnswer[], more: Partial<Tool<never>> = {}): Tool<never> {
  return {
    name: "book",
    async execute(_input, { ask }) {
      if (ask === undefined) throw new TypeError("Questions are not available");
      const answer = await ask({ message: "Which seat?", schema: seat });
      answers.push(answer);
      return answer.status === "answered" ? `booked ${answer.value}` : answer.status;
    },
    ...more,
  };
}

/** Starts a turn whose tool has asked, with a client that follows it. */
async function asked(world: World, node: TestNode) {
  const conversationId = world.id("c");
  await node.me.create({ id: conversationId });
  const follow = await world.joined(node, conversationId);
  const { turnId } = await world.start(node, "Hi", { conversationId });
  const isAsked = () => ofType(follow.events, "input-request").some(({ input }) => input.kind === "question");
  await world.until(isAsked, "the tool asks");
  const { pending } = await node.me.input.pending({ conversationId });
  const request = pending.find(({ kind }) => kind === "question");
  check(request !== undefined, "a question is pending");
  return { conversationId, turnId, follow, request };
}

/** Returns the entries about input that a client has folded, as their texts. */
function entriesIn({ lines }: Follow): readonly string[] {
  return lines.filter((line) => line.startsWith("system"));
}

/** Cases of questions that tools ask while they run. */
export const toolQuestionCases: RuntimeTopicCase[] = [
  {
    name: "a tool asks while it runs, is answered through any node, and the turn never waits",
    async run(world) {
      for (const withOther of [false, true]) {
        const answers: ToolAnswer[] = [];
        const tools = [booking(answers)];
        const node = await world.node({ script: [books, done], tools });
        const other = withOther ? await world.node({ tools }) : node;
        const { conversationId, turnId, follow, request } = await asked(world, node);
        checkEqual(
          [request.kind, request.toolName, request.toolCallId, request.reason, request.schema],
          ["question", "book", "k", "Which seat?", seat],
          "the request",
        );
        check(request.expiresAt !== undefined, "it says until when it can be answered");
        const { meta } = { meta: await other.me.meta(conversationId) };
        checkEqual(meta.waiting, { turnId, count: 1, kinds: ["question"] }, "the metadata");
        checkEqual(meta.activeTurn?.turnId, turnId, "the turn runs");
        const { requestId } = request;
        const wrong = other.me.input.respond(conversationId, requestId, {
          decision: "answer",
          value: "roof",
        });
        checkEqual(await world.refusal(wrong, "an answer of another form"), "invalid_request", "the code");
        const answer = { decision: "answer", value: "aisle" } as const;
        await other.me.input.respond(conversationId, requestId, answer);
        await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
        follow.checkOrder();
        checkEqual(isWaiting(follow), false, "it never waited");
        checkEqual(answers, [{ status: "answered", value: "aisle" }], "the answer");
        checkEqual(
          transcript(await world.log(node, conversationId)).slice(2),
          [
            "system: A question waits for an answer: Which seat?",
            "system: Answered book",
            "tool: [booked aisle]",
            "assistant: Done.",
          ],
          "the log",
        );
        const again = await node.me.input.respond(conversationId, requestId, answer);
        checkEqual(again.repeated, true, "the same again");
      }
    },
  },
  {
    name: "a question that is declined, or not answered in the tool's time, says so to the tool",
    async run(world) {
      const answers: ToolAnswer[] = [];
      const timeoutMs = world.isTimeReal ? 300 : 30_000;
      const tools = [booking(answers, { timeoutMs })];
      const node = await world.node({ script: [books, done, books, done], tools });
      const first = await asked(world, node);
      const { conversationId, request } = first;
      await node.me.input.respond(conversationId, request.requestId, { decision: "deny", note: "not now" });
      await world.until(() => first.follow.has("turn-sealed", first.turnId), "the turn is sealed");
      checkEqual(answers, [{ status: "declined", note: "not now" }], "declined");
      const second = await asked(world, node);
      await world.until(() => second.follow.has("turn-sealed", second.turnId), "the turn is sealed", 120_000);
      checkEqual(answers[1], { status: "canceled" }, "not answered");
      const { content, isError } = only(second.follow.events, "tool-result");
      check(isError && content.includes("took longer"), content);
      checkEqual(only(second.follow.events, "input-response").input.via, "expiry", "who decided");
      second.follow.checkOrder();
      const late = node.me.input.respond(second.conversationId, second.request.requestId, {
        decision: "answer",
        value: "aisle",
      });
      checkEqual(await world.refusal(late, "a late answer"), "already_decided", "the code");
      checkEqual(await node.me.input.pending(), { pending: [] }, "what is pending");
      await world.log(node, second.conversationId);
    },
  },
  {
    name: "a stop cancels a question, and a call that has ended asks no more",
    async run(world) {
      const answers: ToolAnswer[] = [];
      let later: Promise<ToolAnswer> | undefined;
      const refusals = new Set<unknown>();
      const hasty: Tool<never> = {
        name: "hasty",
        execute(_input, { ask }) {
          void ask?.({ message: "Anyone?" }).then((answer) => answers.push(answer));
          const wrong = [{ message: "" }, { message: "x", schema: { default: Number.NaN } }];
          const many = Array.from({ length: 20 }, () => ({ message: "Many?" }));
          for (const question of [...wrong, ...many]) {
            void ask?.(question).catch(({ code }) => refusals.add(code));
          }
          later = new Promise((resolve) => setImmediate(resolve)).then(
            () => ask?.({ message: "And now?" }) ?? { status: "canceled" },
          );
          return "gone";
        },
      };
      const node = await world.node({
        script: [[toolCall("hasty")], done, books],
        tools: [booking(answers), hasty],
      });
      const first = await world.start(node);
      const events = await world.turnEvents(node, first.conversationId, first.turnId);
      checkEqual(only(events, "done").reason, "stop", "the turn goes on");
      await world.until(() => answers.length === 1, "the first question has ended");
      checkEqual([answers[0]?.status, (await later)?.status], ["canceled", "canceled"], "the answers");
      checkEqual([...refusals].toSorted(), ["invalid_request", "limit_exceeded"], "what is not asked");
      checkEqual(await node.me.input.pending(), { pending: [] }, "what is pending");
      const { conversationId, turnId, follow, request } = await asked(world, node);
      await node.me.stop(conversationId);
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is stopped");
      checkEqual(only(follow.events, "input-response").input.via, "stop", "who decided");
      follow.checkOrder();
      const { response } = await node.me.input
        .respond(conversationId, request.requestId, { decision: "answer", value: "aisle" })
        .then(
          () => ({ response: undefined }),
          (error: { details?: { response?: { via?: string } } }) => ({ response: error.details?.response }),
        );
      checkEqual(response?.via, "stop", "the decision in force");
      await world.log(node, conversationId);
    },
  },
  {
    name: "the death of the node cancels a question: a tool that may run again asks again elsewhere",
    async run(world) {
      const answers: ToolAnswer[] = [];
      const tools = [booking(answers, { recovery: "retry" })];
      const here = await world.node({ script: [books], tools });
      const there = await world.node({ script: [done], tools });
      const { conversationId, turnId, request } = await asked(world, here);
      const far = await world.joined(there, conversationId);
      here.faults.cutOff();
      const newRequest = () =>
        ofType(far.events, "input-request").find(({ input }) => input.requestId !== request.requestId);
      await world.until(() => newRequest() !== undefined, "the tool asks on the other node");
      const { requestId = "" } = newRequest()?.input ?? {};
      await there.me.input.respond(conversationId, requestId, { decision: "answer", value: "window" });
      await world.until(() => far.has("turn-sealed", turnId), "the turn is sealed");
      here.faults.heal();
      const log = transcript(await world.log(there, conversationId));
      checkEqual(
        log.filter((line) => line.startsWith("system") || line.startsWith("tool")),
        [
          "system: A question waits for an answer: Which seat?",
          "system: The request for book was not answered before the turn ended",
          "system: A question waits for an answer: Which seat?",
          "system: Answered book",
          "tool: [booked window]",
        ],
        "the log",
      );
      check(entriesIn(far).length === 4, "the other client has folded all of it");
    },
  },
  {
    name: "the death of the node cancels a question of a tool that may not run again, and what waits keeps waiting",
    async run(world) {
      const answers: ToolAnswer[] = [];
      const ran: string[] = [];
      const tools = [booking(answers), payment(ran)];
      const here = await world.node({ script: [[...books, toolCall("pay", { amount: 3 })]], tools });
      const there = await world.node({ script: [done], tools });
      const { conversationId, turnId } = await asked(world, here);
      const far = await world.joined(there, conversationId);
      here.faults.cutOff();
      await world.until(() => isWaiting(far), "the turn is taken over and waits");
      const { pending } = await there.me.input.pending({ conversationId });
      checkEqual(
        pending.map(({ toolName }) => toolName),
        ["pay"],
        "what is pending",
      );
      await allow(there, pending[0]);
      await world.until(() => far.has("turn-sealed", turnId), "the turn is sealed");
      here.faults.heal();
      checkEqual(ran, ["3"], "what has run");
      const log = transcript(await world.log(there, conversationId));
      check(
        log.includes("system: The request for book was not answered before the turn ended"),
        log.join("\n"),
      );
    },
  },
];
