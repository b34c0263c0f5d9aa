import { omitUndefined } from "@parley/fold";
import type { AgentEvent, ToolTiming } from "@parley/wire";
import type { Clock } from "../../clock.js";
import { WorkSlices } from "../../event-loop.js";
import { onAbort } from "../../messages/abort.js";
import { Channel } from "../../messages/channel.js";
import type { IdFactory } from "../../messages/ids.js";
import type { ConversationMessage } from "../../messages/message.js";
import type { ToolCallContentPart, ToolResultContentPart } from "../../messages/part.js";
import { resultFromText, textOfValue } from "../../messages/part.js";
import { interruptedResultText } from "../../messages/provider/repair.js";
import { firstBytes } from "../../messages/text/first-bytes.js";
import { utf8Length } from "../../messages/tokens/transcript-tokens.js";
import { stepIdOf } from "../run-step.js";
import type { TurnLimits, TurnListener, TurnSetup } from "../turn.js";
import { isToolOutput, type Tool } from "./tool.js";
import { validateArguments } from "./validate-arguments.js";

/** The tool messages of a step, one per call, in call order, and how long each tool took. */
export interface ToolsResult {
  readonly messages: readonly ConversationMessage[];
  readonly timings: readonly ToolTiming[];
  readonly toolMs: number;
}

interface Answer {
  readonly text: string;
  readonly isError: boolean;
}

/**
 * Runs the calls of one step side by side, at most `toolConcurrency` at once. Tells what tools print and each
 * result as it comes. Every call gets exactly one result, whatever its tool does: unknown tools and bad
 * arguments tell the model what was wrong, a throw or a timeout becomes an error result, and an abort answers
 * every open call at once, without waiting for tools that ignore it.
 */
export async function runTools(
  setup: TurnSetup,
  step: {
    readonly index: number;
    readonly tools: readonly Tool<never>[];
    readonly calls: readonly ToolCallContentPart[];
    /** Results that are known already, from before a take-over. */
    readonly settled?: readonly ConversationMessage[];
    readonly limits: TurnLimits;
    readonly clock: Clock;
    readonly ids: IdFactory;
  },
  emit: TurnListener,
): Promise<ToolsResult> {
  const { conversationId, turnId } = setup;
  const { calls, clock, limits } = step;
  const stepId = stepIdOf(turnId, step.index);
  const tools = new Map(step.tools.map((tool) => [tool.name, tool]));
  const known = new Map<string, ConversationMessage>();
  for (const message of step.settled ?? []) {
    for (const part of message.content) {
      if (part.type === "tool-result" && part.toolCallId !== undefined) known.set(part.toolCallId, message);
    }
  }
  const messages = calls.map((call) => known.get(call.toolCallId ?? ""));
  const timings = messages.map((message) => (message === undefined ? undefined : timingOf(message)));
  const events = new Channel<AgentEvent>();
  const start = clock.monotonic();

  const settle = (index: number, call: ToolCallContentPart, answer: Answer, startedAt: number) => {
    if (messages[index] !== undefined) return;
    const durationMs = clock.monotonic() - startedAt;
    const bounded = { ...answer, text: boundText(answer.text, limits.toolOutputBytes) };
    const { message, event } = toolResult(setup, step, call, bounded, durationMs);
    messages[index] = message;
    timings[index] = {
      toolCallId: call.toolCallId ?? "",
      toolName: call.name,
      isError: answer.isError,
      durationMs,
    };
    events.push(event);
  };

  const runOne = async (index: number, call: ToolCallContentPart) => {
    if (messages[index] !== undefined) return;
    const startedAt = clock.monotonic();
    const tool = tools.get(call.name);
    const output = boundOutput(limits.toolOutputBytes, (data, stream) => {
      if (messages[index] !== undefined || data === "") return;
      const toolCallId = call.toolCallId ?? "";
      events.push({ type: "tool-output", conversationId, turnId, stepId, toolCallId, data, stream });
    });
    const answer =
      tool === undefined
        ? unknownTool(call.name, tools)
        : await callTool(setup, tool, call, { stepId, clock, limits, output });
    settle(index, call, answer, startedAt);
  };

  const running = runLimited(calls, limits.toolConcurrency, runOne, setup.signal)
    .then(async () => {
      const slices = new WorkSlices();
      // A stop leaves calls that never started: they are answered like the ones it interrupted.
      for (const [index, call] of calls.entries()) {
        settle(index, call, interrupted(), clock.monotonic());
        await slices.next();
      }
      events.end();
    })
    .catch((error: unknown) => events.fail(error));
  await emitAll(events, emit);
  await running;
  return {
    messages: messages.filter((message) => message !== undefined),
    timings: timings.filter((timing) => timing !== undefined),
    toolMs: clock.monotonic() - start,
  };
}

/** Answers calls that will not run, because their step was cut short: one result each, as for calls that ran. */
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

/** Tells events in their order. Results that come together become durable together, not one after the other. */
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

/** What an earlier run noted of a result. */
function timingOf(message: ConversationMessage): ToolTiming | undefined {
  for (const part of message.content) {
    if (part.type !== "tool-result") continue;
    const { toolCallId = "", name: toolName, isError = false, durationMs } = part;
    return { toolCallId, toolName, isError, ...omitUndefined({ durationMs }) };
  }
  return undefined;
}

/** A result as the message that is kept and the event that is emitted. */
function toolResult(
  setup: TurnSetup,
  step: { readonly index: number; readonly clock: Clock; readonly ids: IdFactory },
  call: ToolCallContentPart,
  answer: Answer,
  durationMs: number,
): { message: ConversationMessage; event: AgentEvent } {
  const { conversationId, turnId } = setup;
  const stepId = stepIdOf(turnId, step.index);
  const toolCallId = call.toolCallId ?? "";
  const { text, isError } = answer;
  const part: ToolResultContentPart = {
    type: "tool-result",
    name: call.name,
    toolCallId,
    stepId,
    result: resultFromText(text),
    resultText: text,
    isError,
    durationMs,
  };
  const message: ConversationMessage = {
    id: step.ids.next(),
    conversationId,
    role: "tool",
    createdAt: new Date(step.clock.now()),
    content: [part],
  };
  const event: AgentEvent = {
    type: "tool-result",
    conversationId,
    turnId,
    stepId,
    toolCallId,
    toolName: call.name,
    content: text,
    isError,
    durationMs,
    messageId: message.id,
  };
  return { message, event };
}

/** The answer to a call whose tool was cut off: it may or may not have taken effect. */
function interrupted(): Answer {
  return { text: interruptedResultText, isError: true };
}

async function callTool(
  setup: TurnSetup,
  tool: Tool<never>,
  call: ToolCallContentPart,
  step: {
    readonly stepId: string;
    readonly clock: Clock;
    readonly limits: TurnLimits;
    readonly output: Output;
  },
): Promise<Answer> {
  const timeoutMs = tool.timeoutMs ?? step.limits.toolTimeoutMs;
  const abort = new AbortController();
  let finish: (answer: Answer) => void = () => {};
  const cutOff = new Promise<Answer>((resolve) => {
    finish = resolve;
  });
  const cancelTimer = step.clock.after(timeoutMs, () => {
    abort.abort();
    finish({ text: `The tool took longer than ${timeoutMs} ms and was stopped.`, isError: true });
  });
  const stopListening = onAbort(setup.signal, () => {
    abort.abort();
    finish(interrupted());
  });
  try {
    return await Promise.race([execute(setup, tool, call, abort.signal, step), cutOff]);
  } finally {
    cancelTimer();
    stopListening();
  }
}

async function execute(
  setup: TurnSetup,
  tool: Tool<never>,
  call: ToolCallContentPart,
  signal: AbortSignal,
  step: { readonly stepId: string; readonly output: Output },
): Promise<Answer> {
  try {
    const checked = await validateArguments(tool, call);
    if (!checked.ok) return { text: checked.message, isError: true };
    if (signal.aborted) return interrupted();
    const value: unknown = await tool.execute(checked.value as never, {
      conversationId: setup.conversationId,
      turnId: setup.turnId,
      stepId: step.stepId,
      toolCallId: call.toolCallId ?? "",
      ...omitUndefined({ owner: setup.owner }),
      signal,
      output: step.output,
    });
    if (isToolOutput(value)) return { text: textOfValue(value.content), isError: value.isError ?? false };
    return { text: textOfValue(value), isError: false };
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return { text: `The tool failed: ${message === "" ? "no reason given" : message}`, isError: true };
  }
}

function unknownTool(name: string, tools: ReadonlyMap<string, unknown>): Answer {
  const known = [...tools.keys()].join(", ");
  return {
    text: `There is no tool named "${name}". ${known === "" ? "No tools are available." : `Available: ${known}.`}`,
    isError: true,
  };
}

/** Starts calls in order, `limit` at a time, and starts no more once the signal aborts. */
async function runLimited<T>(
  values: readonly T[],
  limit: number,
  work: (index: number, value: T) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  let next = 0;
  const slices = new WorkSlices();
  const worker = async () => {
    while (next < values.length && !signal?.aborted) {
      const index = next;
      next += 1;
      await work(index, values[index] as T);
      await slices.next();
    }
  };
  await Promise.all(Array.from({ length: Math.min(Math.max(1, limit), values.length) }, worker));
}

type Output = (data: string, stream?: "stdout" | "stderr") => void;

/** Passes on what one call prints up to `maxBytes` of UTF-8; then says once that the rest is left out. */
function boundOutput(maxBytes: number, pass: (data: string, stream: "stdout" | "stderr") => void): Output {
  let left = maxBytes;
  return (data, stream = "stdout") => {
    if (left < 0) return;
    const kept = firstBytes(data, left);
    if (kept.length === data.length) {
      left -= utf8Length(data);
      pass(data, stream);
      return;
    }
    pass(kept, stream);
    left = -1;
    pass(`\n[cut: only the first ${maxBytes} bytes of this output are shown]`, stream);
  };
}

/** At most `maxBytes` of UTF-8, cut between characters, with a line that says how much is missing. */
function boundText(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const kept = firstBytes(text, maxBytes);
  if (kept.length === text.length) return text;
  const bytes = utf8Length(text);
  return `${kept}\n[cut: ${bytes - utf8Length(kept)} of ${bytes} bytes are left out]`;
}
