import type { AgentEvent, StepMetrics, TurnReason } from "@parley/wire";
import { systemClock } from "../clock.js";
import { type ParleyError, toParleyError } from "../errors.js";
import { createUuidV7Factory } from "../messages/ids.js";
import { type ConversationMessage, type TokenUsage, textOf } from "../messages/message.js";
import type { ToolCallContentPart } from "../messages/part.js";
import type { ProviderCallParams, ProviderCallRecord, ProviderFinishReason } from "../ports.js";
import { runStep, stepIdOf, wireUsage } from "./run-step.js";
import { interruptCalls, runTools } from "./run-tools.js";
import { type Tool, toolDefinition } from "./tool.js";
import {
  defaultTurnLimits,
  type StepCommit,
  type TurnLimits,
  type TurnListener,
  type TurnOutcome,
  type TurnSetup,
  type TurnStream,
} from "./turn.js";
import { TurnEvents } from "./turn-events.js";

const defaultIds = createUuidV7Factory();

/**
 * One turn, from the user's message to `done`: ask the model, commit its message, run its tools, commit their
 * results together with what the user steered in, and again, until the model calls no tool.
 *
 * The loop knows no store. What must last goes through `setup.sink`, in this order: the assistant message of a
 * step with calls is committed before any of its tools starts; the results of a step are committed before the
 * next one. What the last step made is returned as `uncommitted`, for the caller to write with its seal.
 *
 * Events go to `tell`, one after the other, and the loop waits where `tell` asks it to. It rejects only if `tell`
 * does. A failure is told as `error`, and like a stop it keeps what exists and answers every open call.
 */
export async function driveTurn(setup: TurnSetup, tell: TurnListener): Promise<TurnOutcome> {
  const { conversationId, turnId, resume, sink } = setup;
  const clock = setup.clock ?? systemClock;
  const ids = setup.ids ?? defaultIds;
  const limits = limitsOf(setup);
  const openedAt = clock.monotonic() - (resume?.elapsedMs ?? 0);
  let tools = setup.tools ?? [];
  let params = withToolDefinitions(setup, tools);

  const messages: ConversationMessage[] = [...(resume?.messages ?? [])];
  const providerCalls: ProviderCallRecord[] = [...(resume?.providerCalls ?? [])];
  const steps: StepMetrics[] = [...(resume?.steps ?? [])];
  let committed = messages.length;
  let stepIndex = resume?.stepIndex ?? 0;
  let calls = resume?.pendingCalls ?? [];
  let settled = resume?.settled ?? [];
  let lastUsage = providerCalls.at(-1)?.usage;
  let ending: { reason: TurnReason; error?: ParleyError; released?: true } | undefined;

  const save = (phase: StepCommit["phase"]) =>
    commit(setup, {
      stepId: stepIdOf(turnId, stepIndex),
      stepIndex,
      phase,
      messages: messages.slice(committed),
      steps: [...steps],
      providerCalls: [...providerCalls],
    });

  if (resume === undefined) {
    await tell(inputEvent(setup));
    const startedAt = setup.startedAt ?? clock.now();
    await tell({ type: "turn-start", conversationId, turnId, model: modelOf(setup), startedAt });
  }

  // Each round is one step: a model call (skipped when a resumed step has calls left to run), then its tools.
  while (ending === undefined) {
    if (calls.length === 0) {
      if (stepIndex >= limits.maxSteps) {
        ending = { reason: "max-steps" };
        break;
      }
      const opened = await openStep(setup, stepIndex, messages);
      if (!("error" in opened)) providerCalls.push(...(opened.providerCalls ?? []));
      if (setup.signal?.aborted) {
        ending = stopped(setup);
        break;
      }
      if ("error" in opened) {
        ending = failed(setup, opened.error);
        break;
      }
      if (opened.tools !== undefined) {
        tools = opened.tools;
        params = withToolDefinitions(setup, tools);
      }
      const step = await runStep(
        setup,
        { index: stepIndex, context: opened, params, messageId: ids.next(), clock },
        tell,
      );
      steps.push(step.metrics);
      providerCalls.push(step.record);
      lastUsage = step.usage;
      if (step.message !== undefined) messages.push(step.message);
      calls = step.calls;
      if (step.error !== undefined) {
        // Calls that arrived before the failure stand in the log, so they need their results.
        messages.push(...(await interruptCalls(setup, { index: stepIndex, calls, clock, ids }, tell)));
        ending = failed(setup, step.error);
        break;
      }
      if (calls.length === 0 || !runnable(setup, tools, calls)) {
        ending = { reason: reasonOf(step.finishReason, calls.length > 0) };
        break;
      }
      const generated = await save("generation");
      if ("error" in generated) {
        messages.push(...(await interruptCalls(setup, { index: stepIndex, calls, clock, ids }, tell)));
        ending = failed(setup, generated.error);
        break;
      }
      committed = messages.length;
    }

    const ran = await runTools(setup, { index: stepIndex, tools, calls, settled, limits, clock, ids }, tell);
    messages.push(...ran.messages);
    noteTools(steps, stepIdOf(turnId, stepIndex), ran);
    settled = [];
    if (setup.signal?.aborted) {
      ending = stopped(setup);
      break;
    }
    const results = await save("results");
    if ("error" in results) {
      ending = failed(setup, results.error);
      break;
    }
    messages.push(...results.steering);
    committed = messages.length;
    if (results.steering.length > 0) await tell(steeringEvent(setup, results.steering));
    calls = [];
    stepIndex += 1;
    if (stepIndex < limits.maxSteps && (results.release || sink.draining?.())) {
      ending = { reason: "interrupted", released: true };
    }
  }

  if (ending.error !== undefined) {
    messages.push(errorMessage(setup, ending.error, ids.next(), new Date(clock.now())));
    const { code, message, retryable } = ending.error;
    await tell({ type: "error", conversationId, turnId, code, message, retryable });
  }
  const outcome = conclude(setup, ending, {
    messages,
    committed,
    providerCalls,
    steps,
    lastUsage,
    durationMs: clock.monotonic() - openedAt,
  });
  if (outcome.state === "finished") await tell(doneEvent(setup, outcome));
  return outcome;
}

/**
 * The same turn as a stream that its reader drives: it begins with the first read, and goes no further than one
 * event ahead. Leaving the iteration early abandons the turn where it stands: nothing more is committed, and its
 * call and its tools are canceled. Abort `setup.signal` to stop it properly.
 */
export function runTurn(setup: TurnSetup): TurnStream {
  return new TurnEvents((tell, left) => {
    const signal = setup.signal === undefined ? left : AbortSignal.any([setup.signal, left]);
    return driveTurn({ ...setup, signal }, tell);
  });
}

/** Field by field: the limits of a host hold more than these, and merging all of them takes longer than a short step. */
function limitsOf({ limits = defaultTurnLimits }: TurnSetup): TurnLimits {
  return {
    maxSteps: limits.maxSteps ?? defaultTurnLimits.maxSteps,
    toolConcurrency: limits.toolConcurrency ?? defaultTurnLimits.toolConcurrency,
    toolTimeoutMs: limits.toolTimeoutMs ?? defaultTurnLimits.toolTimeoutMs,
    toolOutputBytes: limits.toolOutputBytes ?? defaultTurnLimits.toolOutputBytes,
  };
}

/** The turn's figures, summed once, for `done` and for the record alike. */
function conclude(
  setup: TurnSetup,
  ending: { readonly reason: TurnReason; readonly error?: ParleyError; readonly released?: true },
  made: {
    readonly messages: readonly ConversationMessage[];
    readonly committed: number;
    readonly providerCalls: readonly ProviderCallRecord[];
    readonly steps: readonly StepMetrics[];
    readonly lastUsage: TokenUsage | undefined;
    readonly durationMs: number;
  },
): TurnOutcome {
  const { messages, providerCalls, steps, lastUsage, durationMs } = made;
  const { reason } = ending;
  const usage = sumUsage(providerCalls);
  const contextSize =
    lastUsage === undefined ? {} : { contextSize: lastUsage.inputTokens + lastUsage.outputTokens };
  return {
    state: ending.released ? "released" : "finished",
    reason,
    messages,
    uncommitted: messages.slice(made.committed),
    providerCalls,
    metrics: {
      turnId: setup.turnId,
      usage: wireUsage(usage ?? { inputTokens: 0, outputTokens: 0 }),
      durationMs,
      steps,
      reason,
      model: modelOf(setup),
      ...contextSize,
    },
    ...(ending.error === undefined ? {} : { error: ending.error }),
    ...(usage === undefined ? {} : { usage }),
    ...contextSize,
  };
}

function doneEvent(setup: TurnSetup, outcome: TurnOutcome): AgentEvent {
  const { conversationId, turnId } = setup;
  const { reason, usage, contextSize, metrics } = outcome;
  return {
    type: "done",
    conversationId,
    turnId,
    reason,
    ...(metrics.durationMs === undefined ? {} : { durationMs: metrics.durationMs }),
    ...(usage === undefined ? {} : { usage: wireUsage(usage) }),
    ...(contextSize === undefined ? {} : { contextSize }),
  };
}

async function openStep(setup: TurnSetup, stepIndex: number, turnMessages: readonly ConversationMessage[]) {
  try {
    // A copy: whoever builds the context may keep what it is given while the turn goes on.
    const shown = [...turnMessages];
    return await setup.context({
      stepIndex,
      stepId: stepIdOf(setup.turnId, stepIndex),
      turnMessages: shown,
    });
  } catch (thrown) {
    return { error: toParleyError(thrown) };
  }
}

async function commit(
  setup: TurnSetup,
  step: StepCommit,
): Promise<{ error: ParleyError } | { steering: readonly ConversationMessage[]; release: boolean }> {
  try {
    const { steering = [], release = false } = await setup.sink.commitStep(step);
    return { steering, release };
  } catch (thrown) {
    return { error: toParleyError(thrown, "store_unavailable") };
  }
}

/** A stop ends a turn as the stop says; all else is an error. */
function failed(setup: TurnSetup, error: ParleyError): { reason: TurnReason; error?: ParleyError } {
  return setup.signal?.aborted ? stopped(setup) : { reason: "error", error };
}

function stopped(setup: TurnSetup): { reason: TurnReason; error?: ParleyError } {
  return setup.abortReason?.() ?? { reason: "aborted" };
}

/** Calls run here unless none of the tools do, or one is only declared: then they are the caller's. */
function runnable(
  setup: TurnSetup,
  tools: readonly Tool<never>[],
  calls: readonly ToolCallContentPart[],
): boolean {
  const own = new Set(tools.map((tool) => tool.name));
  if (own.size === 0) return false;
  const declared = new Set((setup.providerParams.tools ?? []).map((tool) => tool.name));
  return calls.every((call) => own.has(call.name) || !declared.has(call.name));
}

function reasonOf(finish: ProviderFinishReason | undefined, openCalls: boolean): TurnReason {
  if (openCalls) return "tool-calls";
  if (finish === "length" || finish === "content-filter") return finish;
  return "stop";
}

function withToolDefinitions(
  setup: TurnSetup,
  tools: readonly Tool<never>[],
): Omit<ProviderCallParams, "messages"> {
  const own = tools.map(toolDefinition);
  if (own.length === 0) return setup.providerParams;
  const names = new Set(own.map((tool) => tool.name));
  const declared = (setup.providerParams.tools ?? []).filter((tool) => !names.has(tool.name));
  return { ...setup.providerParams, tools: [...own, ...declared] };
}

const modelOf = (setup: TurnSetup) => setup.model ?? setup.providerParams.metadata.model;

function noteTools(
  steps: StepMetrics[],
  stepId: string,
  ran: { readonly timings: NonNullable<StepMetrics["tools"]>; readonly toolMs: number },
): void {
  const index = steps.findIndex((step) => step.stepId === stepId);
  const step = steps[index];
  if (step !== undefined) steps[index] = { ...step, toolMs: ran.toolMs, tools: ran.timings };
}

/** Of the steps: what a compaction took is on its own call. */
function sumUsage(records: readonly ProviderCallRecord[]): TokenUsage | undefined {
  let sum: TokenUsage | undefined;
  for (const { usage, purpose = "step" } of records) {
    if (usage === undefined || purpose !== "step") continue;
    sum = sum === undefined ? { ...usage } : addUsage(sum, usage);
  }
  if (sum?.totalTokens !== undefined) sum.totalTokens = sum.inputTokens + sum.outputTokens;
  return sum;
}

/** Counters that only one side knows are kept; ones that neither knows stay absent. */
function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  const sum: TokenUsage = { ...a };
  for (const key of Object.keys(b) as (keyof TokenUsage)[]) sum[key] = (a[key] ?? 0) + (b[key] ?? 0);
  return sum;
}

function inputEvent(setup: TurnSetup): AgentEvent {
  const { conversationId, turnId, userMessages } = setup;
  const [first] = userMessages;
  return {
    type: "user-message",
    conversationId,
    turnId,
    text: userMessages.map(textOf).join("\n\n"),
    ...(first === undefined ? {} : { messageId: first.id, createdAt: first.createdAt.getTime() }),
    ...(userMessages.length > 1
      ? { messages: userMessages.map((message) => ({ messageId: message.id, text: textOf(message) })) }
      : {}),
  };
}

function steeringEvent(setup: TurnSetup, steering: readonly ConversationMessage[]): AgentEvent {
  const { conversationId, turnId } = setup;
  return {
    type: "steering",
    conversationId,
    turnId,
    text: steering.map(textOf).join("\n\n"),
    messageIds: steering.map((message) => message.id),
    messages: steering.map((message) => ({ messageId: message.id, text: textOf(message) })),
    ...(steering[0] === undefined ? {} : { createdAt: steering[0].createdAt.getTime() }),
  };
}

function errorMessage(
  setup: TurnSetup,
  error: ParleyError,
  id: string,
  createdAt: Date,
): ConversationMessage {
  return {
    id,
    conversationId: setup.conversationId,
    role: "assistant",
    createdAt,
    content: [{ type: "error", message: error.message, code: error.code }],
  };
}
