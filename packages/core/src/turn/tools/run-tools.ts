import { omitUndefined } from "@parley/fold";
import type { AgentEvent, InputRequestEntry, InputResponseEntry, ToolTiming } from "@parley/wire";
import type { Clock } from "../../clock.js";
import { WorkSlices } from "../../event-loop.js";
import { Channel } from "../../messages/channel.js";
import type { IdFactory } from "../../messages/ids.js";
import { inputMessage, inputMessageId } from "../../messages/input-entry.js";
import type { ConversationMessage } from "../../messages/message.js";
import type { ToolCallContentPart } from "../../messages/part.js";
import { argumentsFromText } from "../../messages/part.js";
import { mayNeedInput } from "../approval/ask-calls.js";
import { decideAtOnce } from "../approval/decide-at-once.js";
import {
  changedToolAnswer,
  decidedAnswer,
  denial,
  unstartedAnswer,
  withChangedArguments,
} from "../approval/decided-answer.js";
import { toolHash } from "../approval/tool-hash.js";
import type { AskedCall, AskedCalls } from "../approval/turn-inputs.js";
import { stepIdOf } from "../run-step.js";
import type { TurnLimits, TurnListener, TurnSetup } from "../turn.js";
import { CallPool } from "./call-pool.js";
import { CallQuestions } from "./call-questions.js";
import { callTool } from "./call-tool.js";
import type { Tool } from "./tool.js";
import { boundOutput, boundText } from "./tool-output-bounds.js";
import { type Answer, interrupted, toolResult } from "./tool-result.js";

/** Results of the calls of a step. */
export interface ToolsResult {
  /** Questions that calls asked while they ran, and the responses: to be written before the results. */
  readonly entries: readonly ConversationMessage[];
  /** The tool messages, one per answered call, in call order. */
  readonly messages: readonly ConversationMessage[];
  /** The undecided calls. */
  readonly undecided: readonly ToolCallContentPart[];
  readonly timings: readonly ToolTiming[];
  readonly toolMs: number;
}

/** The calls of a step, and what is known of them. */
export interface StepCalls {
  readonly index: number;
  readonly tools: readonly Tool<never>[];
  readonly calls: readonly ToolCallContentPart[];
  /** Results that are already known, from before a takeover. */
  readonly settled?: readonly ConversationMessage[];
  /** The calls that wait for input. */
  readonly asked?: AskedCalls;
  /** Calls that may have run and may not run again. */
  readonly lost?: ReadonlySet<ToolCallContentPart> | undefined;
  readonly limits: TurnLimits;
  readonly clock: Clock;
  readonly ids: IdFactory;
}

/**
 * Runs the calls of one step concurrently, at most `toolConcurrency` at once. Emits what tools print and each result
 * as it comes. Every call gets exactly one result, whatever its tool does: unknown tools and bad arguments are
 * reported to the model, a throw or a timeout becomes an error result, and an abort answers every open call
 * immediately, without waiting for tools that ignore it.
 *
 * A call that waits for input starts when its decision is durable. Returns when nothing runs any more, with the
 * undecided calls.
 */
export async function runTools(setup: TurnSetup, step: StepCalls, emit: TurnListener): Promise<ToolsResult> {
  return new StepTools(setup, step, emit).run();
}

/** The calls of a step while they run. */
class StepTools {
  readonly #setup: TurnSetup;
  readonly #step: StepCalls;
  readonly #emit: TurnListener;
  readonly #tools: ReadonlyMap<string, Tool<never>>;
  readonly #asked: AskedCalls;
  readonly #entries: ConversationMessage[] = [];
  /** By the place of their call. */
  readonly #messages: (ConversationMessage | undefined)[];
  readonly #timings: (ToolTiming | undefined)[];
  readonly #events = new Channel<AgentEvent>();
  readonly #pool: CallPool;
  readonly #questions: CallQuestions;
  #stopListening: (() => void) | undefined;

  constructor(setup: TurnSetup, step: StepCalls, emit: TurnListener) {
    this.#setup = setup;
    this.#step = step;
    this.#emit = emit;
    this.#tools = new Map(step.tools.map((tool) => [tool.name, tool]));
    this.#asked = step.asked ?? new Map();
    const known = new Map<string, ConversationMessage>();
    for (const message of step.settled ?? []) {
      for (const part of message.content) {
        if (part.type === "tool-result" && part.toolCallId !== undefined) known.set(part.toolCallId, message);
      }
    }
    this.#messages = step.calls.map((call) => known.get(call.toolCallId ?? ""));
    this.#timings = this.#messages.map((message) => (message === undefined ? undefined : timingOf(message)));
    this.#pool = new CallPool(step.limits.toolConcurrency, (index) => this.#runOne(index), setup.signal);
    this.#questions = new CallQuestions(setup, step, {
      listen: () => this.#listen(),
      log: (entry) => this.#logEntry(entry),
    });
  }

  async run(): Promise<ToolsResult> {
    const { clock, calls } = this.#step;
    const start = clock.monotonic();
    const running = this.#runAll()
      .then(() => this.#events.end())
      .catch((error: unknown) => this.#events.fail(error));
    await emitAll(this.#events, this.#emit);
    await running;
    return {
      entries: this.#entries,
      messages: this.#messages.filter((message) => message !== undefined),
      undecided: calls.filter((_, index) => this.#messages[index] === undefined),
      timings: this.#timings.filter((timing) => timing !== undefined),
      toolMs: clock.monotonic() - start,
    };
  }

  async #runAll(): Promise<void> {
    const { calls } = this.#step;
    try {
      for (const [index, call] of calls.entries()) {
        const asked = this.#asked.get(call);
        if (asked === undefined || asked.response !== undefined) this.#pool.add(index);
        else this.#listen();
      }
      await this.#pool.idle();
    } finally {
      this.#stopListening?.();
    }
    if (this.#setup.signal?.aborted) await this.#answerRest();
  }

  /** Listens for responses, from the first request on that can be answered. */
  #listen(): void {
    this.#stopListening ??= this.#setup.inputs?.listen?.((response) => this.#decided(response));
  }

  /** Starts a call that was decided on while others ran, or passes the answer to a call that asked. */
  #decided(response: InputResponseEntry): void {
    if (this.#questions.answered(response)) return;
    for (const [index, call] of this.#step.calls.entries()) {
      const asked = this.#asked.get(call);
      if (asked?.request.requestId !== response.requestId || asked.response !== undefined) continue;
      asked.response = response;
      this.#pool.add(index);
    }
  }

  /** Answers calls that never started because of a stop, like the ones it interrupted. */
  async #answerRest(): Promise<void> {
    const { calls, clock } = this.#step;
    const slices = new WorkSlices();
    const reason = this.#setup.abortReason?.().reason ?? "aborted";
    const via = reason === "aborted" ? "stop" : "end";
    const open = calls.flatMap((call, index) => {
      const asked = this.#asked.get(call);
      return asked === undefined || this.#messages[index] !== undefined ? [] : [asked];
    });
    const recorded = open.length === 0 ? [] : await this.#recordedResponses();
    const unstarted = new Set(open.filter(({ isLogged }) => !isLogged));
    for (const asked of open) {
      const { request } = asked;
      asked.response ??=
        recorded.find(({ requestId }) => requestId === request.requestId) ?? denial(request, via);
    }
    await Promise.all(open.map((asked) => this.#log(asked)));
    for (const [index, call] of calls.entries()) {
      const asked = this.#asked.get(call);
      const decided =
        asked?.response === undefined ? undefined : decidedAnswer(asked.response, asked.request.kind);
      const cut = asked !== undefined && unstarted.has(asked) ? unstartedAnswer : interrupted();
      this.#settle(index, call, decided ?? cut, clock.monotonic());
      await slices.next();
    }
  }

  /** Returns recorded responses: decisions made before the stop count, even if they were not read yet. */
  async #recordedResponses(): Promise<readonly InputResponseEntry[]> {
    try {
      return (await this.#setup.inputs?.responses?.()) ?? [];
    } catch {
      return [];
    }
  }

  async #runOne(index: number): Promise<void> {
    if (this.#messages[index] !== undefined) return;
    const call = this.#step.calls[index] as ToolCallContentPart;
    if (this.#step.lost?.has(call)) {
      this.#settle(index, call, interrupted(), this.#step.clock.monotonic());
      return;
    }
    const asked = this.#asked.get(call);
    if (asked !== undefined) await this.#log(asked);
    const startedAt = this.#step.clock.monotonic();
    const answer =
      asked === undefined ? await this.#answer(index, call) : await this.#answerAsked(index, call, asked);
    this.#settle(index, call, answer, startedAt);
  }

  async #log(asked: AskedCall): Promise<void> {
    const { response } = asked;
    if (response === undefined || asked.isLogged) return;
    asked.isLogged = true;
    await this.#logEntry(response);
  }

  /** Puts an entry into the log: a response is durable when this resolves. */
  async #logEntry(input: InputRequestEntry | InputResponseEntry): Promise<void> {
    const { conversationId, turnId } = this.#setup;
    const stepId = stepIdOf(turnId, this.#step.index);
    const createdAt = new Date(this.#step.clock.now());
    this.#entries.push(inputMessage(input, { conversationId, createdAt }));
    const place = { conversationId, turnId, stepId, messageId: inputMessageId(input) };
    await this.#emit(
      input.type === "input-request"
        ? { type: "input-request", ...place, input }
        : { type: "input-response", ...place, input },
    );
  }

  async #answerAsked(index: number, call: ToolCallContentPart, asked: AskedCall): Promise<Answer> {
    const { request, response } = asked;
    if (response === undefined) return interrupted();
    const decided = decidedAnswer(response, request.kind);
    if (decided !== undefined) return decided;
    const tool = this.#tools.get(call.name);
    if (tool === undefined || toolHash(tool) !== request.toolHash) return changedToolAnswer(call.name);
    const { argumentsText } = response;
    if (argumentsText === undefined) return this.#call(index, call, tool);
    const changed = { ...call, arguments: argumentsFromText(argumentsText), argumentsText };
    const answer = await this.#call(index, changed, tool);
    return { ...answer, text: withChangedArguments(answer.text, argumentsText) };
  }

  async #answer(index: number, call: ToolCallContentPart): Promise<Answer> {
    const tool = this.#tools.get(call.name);
    if (tool === undefined) return unknownTool(call.name, this.#tools);
    const { inputs } = this.#setup;
    // A turn that can wait has made the requests for its calls when their step was committed.
    if (inputs?.listen !== undefined || !mayNeedInput(tool, inputs)) return this.#call(index, call, tool);
    const decided = await decideAtOnce(
      this.#setup,
      stepIdOf(this.#setup.turnId, this.#step.index),
      tool,
      call,
    );
    if ("answer" in decided) return decided.answer;
    if (decided.argumentsText === undefined) return this.#call(index, call, tool);
    const { argumentsText } = decided;
    const changed = { ...call, arguments: argumentsFromText(argumentsText), argumentsText };
    const answer = await this.#call(index, changed, tool);
    return { ...answer, text: withChangedArguments(answer.text, argumentsText) };
  }

  #call(index: number, call: ToolCallContentPart, tool: Tool<never>): Promise<Answer> {
    const { conversationId, turnId } = this.#setup;
    const { clock, limits } = this.#step;
    const stepId = stepIdOf(turnId, this.#step.index);
    const output = boundOutput(limits.toolOutputBytes, (data, stream) => {
      if (this.#messages[index] !== undefined || data === "") return;
      const toolCallId = call.toolCallId ?? "";
      this.#events.push({ type: "tool-output", conversationId, turnId, stepId, toolCallId, data, stream });
    });
    const timeoutMs = tool.timeoutMs ?? limits.toolTimeoutMs;
    const questions = this.#questions.of(call, tool, timeoutMs);
    return callTool(this.#setup, tool, call, { stepId, clock, timeoutMs, output, questions });
  }

  #settle(index: number, call: ToolCallContentPart, answer: Answer, startedAt: number): void {
    if (this.#messages[index] !== undefined) return;
    const { clock, limits } = this.#step;
    const durationMs = clock.monotonic() - startedAt;
    const bounded = { ...answer, text: boundText(answer.text, limits.toolOutputBytes) };
    const { message, event } = toolResult(this.#setup, this.#step, call, bounded, durationMs);
    this.#messages[index] = message;
    this.#timings[index] = {
      toolCallId: call.toolCallId ?? "",
      toolName: call.name,
      isError: answer.isError,
      durationMs,
    };
    this.#events.push(event);
  }
}

/** Answers calls that will not run, because their step was stopped early: one result each, as for calls that ran. */
export async function interruptCalls(
  setup: TurnSetup,
  step: {
    readonly index: number;
    readonly calls: readonly ToolCallContentPart[];
    readonly clock: Clock;
    readonly ids: IdFactory;
  },
  emit: TurnListener,
): Promise<readonly ConversationMessage[]> {
  const messages: ConversationMessage[] = [];
  const events = new Channel<AgentEvent>();
  for (const call of step.calls) {
    const { message, event } = toolResult(setup, step, call, interrupted(), 0);
    messages.push(message);
    events.push(event);
  }
  events.end();
  await emitAll(events, emit);
  return messages;
}

/** Emits events in their order. Results that arrive together become durable together, not one after the other. */
async function emitAll(events: Channel<AgentEvent>, emit: TurnListener): Promise<void> {
  const slices = new WorkSlices();
  let results: Promise<void>[] = [];
  for (;;) {
    const arrived = events.takeArrived();
    if (results.length > 0 && arrived?.type !== "tool-result") {
      await Promise.all(results);
      results = [];
    }
    const next = arrived === undefined ? await events.next() : { value: arrived, done: false as const };
    if (next.done) return;
    const wait = emit(next.value);
    if (wait !== undefined && next.value.type === "tool-result") results.push(wait);
    else if (wait !== undefined) await wait;
    await slices.next();
  }
}

/** Returns the timing that an earlier run recorded for a result. */
function timingOf(message: ConversationMessage): ToolTiming | undefined {
  for (const part of message.content) {
    if (part.type !== "tool-result") continue;
    const { toolCallId = "", name: toolName, isError = false, durationMs } = part;
    return { toolCallId, toolName, isError, ...omitUndefined({ durationMs }) };
  }
  return undefined;
}

function unknownTool(name: string, tools: ReadonlyMap<string, unknown>): Answer {
  const known = [...tools.keys()].join(", ");
  return {
    text: `There is no tool named "${name}". ${known === "" ? "No tools are available." : `Available: ${known}.`}`,
    isError: true,
  };
}
