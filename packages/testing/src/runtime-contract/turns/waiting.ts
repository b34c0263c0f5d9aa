import { askUserTool, type Tool } from "@parley/core";
import type { SendInput } from "@parley/core/runtime";
import type { PendingRequest } from "@parley/wire";
import { check, checkEqual } from "../../contract-case.js";
import { gate } from "../../gate.js";
import { type ScriptEntry, text, toolCall, usage } from "../../provider/script.js";
import type { Follow } from "../follow.js";
import { ofType, only, type RuntimeTopicCase, type TestNode, transcript, type World } from "../world.js";

/** Creates a tool that asks each time, and keeps its arguments. */
export function payment(ran: string[], more: Partial<Tool<{ amount: number }>> = {}): Tool<never> {
  const pay: Tool<{ amount: number }> = {
    name: "pay",
    description: "Pays",
    schema: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
    approval: "always",
    execute: ({ amount }) => {
      ran.push(String(amount));
      return `paid ${amount}`;
    },
    ...more,
  };
  return pay as Tool<never>;
}

/** A turn that waits on a node, with a client that has followed it from the beginning. */
export interface WaitingTurn {
  readonly conversationId: string;
  readonly turnId: string;
  readonly follow: Follow;
  readonly pending: readonly PendingRequest[];
}

/** Sends to a node, and waits until the turn waits. */
export async function waits(
  world: World,
  node: TestNode,
  message = "Hi",
  more: Partial<SendInput> = {},
): Promise<WaitingTurn> {
  const conversationId = world.id("c");
  await node.me.create({ id: conversationId });
  const follow = await world.joined(node, conversationId);
  const { turnId } = await world.start(node, message, { conversationId, ...more });
  await world.until(() => isWaiting(follow), "the turn waits");
  const { pending } = await node.me.input.pending({ conversationId });
  return { conversationId, turnId, follow, pending };
}

/** Returns true if the last status that a client was sent reports that the turn waits. */
export function isWaiting(follow: Follow): boolean {
  return ofType(follow.events, "status").at(-1)?.waiting !== undefined;
}

/** Allows a request as it is. */
export function allow(node: TestNode, request: PendingRequest | undefined, more: object = {}) {
  check(request !== undefined, "a request is pending");
  const { conversationId, requestId, argumentsHash } = request;
  return node.me.input.respond(conversationId, requestId, { decision: "allow", argumentsHash, ...more });
}

const done: ScriptEntry[] = [text("Done."), usage(9, 3)];

/** Cases of turns that wait for a person or for the caller. */
export const waitingCases: RuntimeTopicCase[] = [
  {
    name: "a call that needs approval waits without a node, and runs byte for byte as it was approved",
    async run(world) {
      const ran: string[] = [];
      const node = await world.node({
        script: [[text("I pay. "), toolCall("pay", '{"amount": 3.0}', { id: "k" }), usage(5, 2)], done],
        tools: [payment(ran)],
      });
      const { conversationId, turnId, follow, pending } = await waits(world, node);
      follow.checkOrder({ unfinished: true });
      await world.until(() => node.runtime.status().runningTurns === 0, "nothing runs on the node");
      const meta = await node.me.meta(conversationId);
      const waiting = { turnId, count: 1, kinds: ["approval"] };
      checkEqual([meta.status, meta.waiting], ["active", waiting], "the metadata");
      const [request] = pending;
      checkEqual(
        [request?.kind, request?.toolName, request?.argumentsText, request?.toolCallId],
        ["approval", "pay", '{"amount": 3.0}', "k"],
        "the pending request",
      );
      const events = [];
      for await (const { event } of node.me.events(conversationId, turnId)) events.push(event);
      const last = events.at(-1);
      checkEqual(last?.type === "status" ? last.waiting : last, waiting, "the last of the turn's events");
      checkEqual((await node.me.last(conversationId)).waiting, waiting, "the last answer");
      checkEqual((await node.me.turn(conversationId, turnId)).status, "waiting", "the turn");
      await world.advance(50);
      checkEqual(ran, [], "what has run");
      const answer = await allow(node, request);
      checkEqual([answer.repeated, answer.response.decision], [false, "allow"], "the answer");
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      follow.checkOrder();
      checkEqual(ran, ["3"], "what has run");
      checkEqual(
        transcript(await world.log(node, conversationId)),
        [
          "user: Hi",
          'assistant: I pay.  [pay {"amount": 3.0}]',
          "system: The call of pay waits for approval",
          "system: Allowed pay",
          "tool: [paid 3]",
          "assistant: Done.",
        ],
        "the log",
      );
      const sent = node.provider.calls[1]?.params.messages.map(({ role }) => role);
      checkEqual(sent, ["user", "assistant", "tool"], "what the model is shown");
      const [metrics] = await node.me.metrics(conversationId);
      const { durationMs = 0, waitedMs = 0, steps = [] } = metrics ?? {};
      check(waitedMs > 0 && waitedMs <= durationMs, `${waitedMs} of ${durationMs} ms were waiting`);
      check((steps[0]?.toolMs ?? 0) <= durationMs - waitedMs, "the tools' time is apart from it");
      checkEqual(only(follow.events, "done").waitedMs, waitedMs, "the event says the same");
      checkEqual((await node.me.meta(conversationId)).waiting, undefined, "the metadata after it");
    },
  },
  {
    name: "a denied call is reported to the model, and a changed one with what was changed",
    async run(world) {
      const ran: string[] = [];
      const node = await world.node({
        script: [
          [toolCall("pay", { amount: 1 }), toolCall("pay", { amount: 2 }), toolCall("pay", { amount: "x" })],
          done,
        ],
        tools: [payment(ran)],
      });
      const { conversationId, turnId, follow, pending } = await waits(world, node);
      checkEqual(pending.length, 2, "a call with invalid arguments needs no decision");
      const [first, second] = pending;
      check(first !== undefined && second !== undefined, "two requests");
      await node.me.input.respond(conversationId, first.requestId, { decision: "deny", note: "not now" });
      await world.until(() => isWaiting(follow) && follow.count("tool-result") === 2, "it waits again");
      const { argumentsHash } = second;
      const wrong = { decision: "allow" as const, argumentsHash, arguments: { amount: "much" } };
      const refusal = node.me.input.respond(conversationId, second.requestId, wrong);
      checkEqual(await world.refusal(refusal, "arguments that do not fit"), "invalid_request", "the code");
      await allow(node, second, { arguments: { amount: 5 } });
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      follow.checkOrder();
      checkEqual(ran, ["5"], "what has run");
      const results = transcript(await world.log(node, conversationId)).filter((line) =>
        line.startsWith("tool"),
      );
      checkEqual(
        results.slice(1),
        [
          "tool: [failed: The user denied this call. It was not run. They said: not now]",
          'tool: [The user changed the arguments of this call to {"amount":5}\n\npaid 5]',
        ],
        "the results",
      );
      const shown = node.provider.calls[1]?.params.messages.flatMap(({ content }) =>
        content.flatMap((part) => ("resultText" in part ? [String(part.resultText).slice(0, 20)] : [])),
      );
      checkEqual(
        shown,
        ["The user denied this", "The user changed the", 'The call of "pay" wa'],
        "the results in call order",
      );
    },
  },
  {
    name: "a question waits for an answer of the form that was asked for",
    async run(world) {
      const node = await world.node({
        script: [[toolCall("ask_user", { question: "Which?", options: ["red", "blue"] })], done],
        approvals: { askUser: true },
      });
      checkEqual(
        node.runtime.tools().tools.map(({ name }) => name),
        [askUserTool.name],
        "the tools",
      );
      const { conversationId, turnId, follow, pending } = await waits(world, node);
      const [request] = pending;
      check(request !== undefined, "a request is pending");
      checkEqual(
        [request.kind, request.reason, request.schema],
        ["question", "Which?", { enum: ["red", "blue"] }],
        "it",
      );
      const respond = (answer: Parameters<typeof node.me.input.respond>[2]) =>
        node.me.input.respond(conversationId, request.requestId, answer);
      checkEqual(
        await world.refusal(respond({ decision: "answer", value: "green" }), "another answer"),
        "invalid_request",
        "the code",
      );
      checkEqual(
        await world.refusal(respond({ decision: "allow" }), "an approval of it"),
        "invalid_request",
        "the code",
      );
      await respond({ decision: "answer", value: "blue" });
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      checkEqual(only(follow.events, "tool-result").content, "blue", "the result");
    },
  },
  {
    name: "a call of the caller's tool waits for its output, also in a turn that waited in the queue",
    async run(world) {
      const at = gate();
      const wait: Tool<never> = { name: "wait", execute: () => at.wait() };
      const node = await world.node({
        script: [
          [toolCall("wait")],
          done,
          [toolCall("page", { title: "A" }), toolCall("page", { title: 7 })],
          done,
        ],
        tools: [wait],
      });
      const schema = { type: "object", properties: { title: { type: "string" } } };
      const tools = [{ name: "page", description: "Shows a page", schema }];
      const { conversationId } = await world.start(node);
      await world.pass(at.reached, "the first turn runs");
      const steer = node.me.send({ conversationId, message: "x", tools, ifBusy: "steer" });
      checkEqual(await world.refusal(steer, "a steer with tools"), "invalid_request", "the code");
      const taken = node.me.send({ message: "x", tools: [{ name: "wait" }] });
      checkEqual(await world.refusal(taken, "a name that is taken"), "invalid_request", "the code");
      await node.me.send({ conversationId, message: "Show", tools, ifBusy: "queue" });
      const follow = await world.joined(node, conversationId);
      at.open();
      await world.until(() => isWaiting(follow), "the second turn waits");
      const offered = node.provider.calls[2]?.params.tools?.map(({ name }) => name);
      checkEqual(offered, ["wait", "page"], "the tools that the model is offered");
      const [request, ...others] = (await node.me.input.pending()).pending;
      checkEqual(
        [request?.kind, request?.toolName, others.length],
        ["tool-output", "page", 0],
        "the request",
      );
      const { requestId = "" } = request ?? {};
      const value = { shown: true };
      await node.me.input.respond(conversationId, requestId, { decision: "output", value });
      await world.until(() => follow.count("turn-sealed") === 2, "the turn is sealed");
      const results = ofType(follow.events, "tool-result").map(({ content }) => content.slice(0, 20));
      checkEqual(results.length, 3, "results");
      check(results.includes('{"shown":true}'), "the output is the result");
    },
  },
  {
    name: "calls that need no decision run meanwhile, and one that is decided while they run starts at once",
    async run(world) {
      for (const withOther of [false, true]) {
        const ran: string[] = [];
        const at = gate();
        const tools = [payment(ran), { name: "wait", execute: () => at.wait().then(() => "waited") }];
        const node = await world.node({
          script: [[toolCall("pay", { amount: 1 }), toolCall("wait")], done],
          tools,
        });
        const decider = withOther ? await world.node({ tools }) : node;
        const conversationId = world.id("c");
        await node.me.create({ id: conversationId });
        const follow = await world.joined(node, conversationId);
        const { turnId } = await world.start(node, "Hi", { conversationId });
        await world.pass(at.reached, "the other call runs");
        const [request] = (await decider.me.input.pending({ conversationId })).pending;
        await allow(decider, request);
        await world.until(() => ran.length === 1, "the approved call runs while the other one does");
        await world.until(() => follow.count("tool-result") === 1, "its result comes before the other one's");
        at.open();
        await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
        follow.checkOrder();
        checkEqual(
          ofType(follow.events, "status").filter(({ waiting }) => waiting !== undefined),
          [],
          "it never waited",
        );
        checkEqual(
          await node.me.metrics(conversationId).then(([first]) => first?.waitedMs),
          undefined,
          "waiting",
        );
      }
    },
  },
  {
    name: "twenty calls of one step are decided in any order, and the model sees the results in theirs",
    async run(world) {
      const ran: string[] = [];
      const amounts = Array.from({ length: 20 }, (_, index) => index);
      const node = await world.node({
        script: [amounts.map((amount) => toolCall("pay", { amount })), done],
        tools: [payment(ran)],
      });
      const { conversationId, turnId, follow, pending } = await waits(world, node);
      checkEqual(pending.length, 20, "requests");
      const order = amounts.toSorted((left, right) => ((left * 7) % 20) - ((right * 7) % 20));
      const denied = new Set([3, 11]);
      const decide = (amount: number) => {
        const request = pending[amount];
        check(request !== undefined, "a request for each call");
        if (!denied.has(amount)) return allow(node, request);
        return node.me.input.respond(conversationId, request.requestId, { decision: "deny" });
      };
      for (const amount of order.slice(0, 5)) await decide(amount);
      await Promise.all(order.slice(5).map(decide));
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      follow.checkOrder();
      checkEqual(
        ran.toSorted(),
        amounts
          .filter((amount) => !denied.has(amount))
          .map(String)
          .toSorted(),
        "what has run",
      );
      const shown = node.provider.calls[1]?.params.messages.flatMap(({ content }) =>
        content.flatMap((part) => ("resultText" in part ? [String(part.resultText)] : [])),
      );
      const expected = amounts.map((amount) =>
        denied.has(amount) ? "The user denied this call. It was not run." : `paid ${amount}`,
      );
      checkEqual(shown, expected, "the results that the model sees");
      await world.log(node, conversationId);
    },
  },
  {
    name: "two clients that decide at once through two nodes receive the same decision",
    async run(world) {
      const ran: string[] = [];
      const tools = [payment(ran)];
      const script = [[toolCall("pay", { amount: 1 })], done];
      const here = await world.node({ script, tools });
      const there = await world.node({ script: [done, done], tools });
      const { conversationId, turnId, follow, pending } = await waits(world, here);
      const far = await world.joined(there, conversationId);
      const [request] = pending;
      check(request !== undefined, "a request is pending");
      const outcomes = await Promise.allSettled([
        allow(here, request),
        there.me.input.respond(conversationId, request.requestId, { decision: "deny", note: "no" }),
      ]);
      checkEqual(outcomes.filter(({ status }) => status === "fulfilled").length, 1, "winners");
      const loser = outcomes.find((outcome) => outcome.status === "rejected");
      const { code, details } = (loser?.reason ?? {}) as {
        code?: string;
        details?: { response?: { decision?: string } };
      };
      checkEqual(code, "already_decided", "the other one is refused");
      await world.until(
        () => follow.has("turn-sealed", turnId) && far.has("turn-sealed", turnId),
        "both see the end",
      );
      const winner = outcomes.find((outcome) => outcome.status === "fulfilled")?.value.response.decision;
      checkEqual(details?.response?.decision, winner, "the decision that the other one receives");
      checkEqual(ran.length, winner === "allow" ? 1 : 0, "how often it ran");
      const again = await allow(winner === "allow" ? there : here, request).catch((error: unknown) => error);
      if (winner === "allow") checkEqual((again as { repeated?: boolean }).repeated, true, "the same again");
      follow.checkOrder();
      checkEqual(far.state.chunks, follow.state.chunks, "what both have folded");
    },
  },
];
