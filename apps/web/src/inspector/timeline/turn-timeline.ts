import type { ConversationState, TurnState } from "@parley/client";
import { toolCallsOf } from "@parley/client/tool-calls";
import type { ProviderCallInfo, StepId, StoredChunk, TurnMetrics } from "@parley/wire";
import { knownUsage } from "../figures/figures.js";
import type { TimelineStep, TimelineTool, TimelineTurn } from "./timeline.js";

/** All sources of data about a turn: the live state, its metrics, its calls. */
export interface TurnSources {
  readonly live?: TurnState | undefined;
  /** The tool calls of the live turn, by step. */
  readonly liveTools?: LiveTools | undefined;
  /** Once the turn is sealed. */
  readonly metrics?: TurnMetrics | undefined;
  /** Epoch milliseconds. */
  readonly startedAt?: number | undefined;
  readonly calls?: readonly ProviderCallInfo[] | undefined;
  /** The turn's part of the log: it records how long calls waited for decisions. */
  readonly chunks?: readonly StoredChunk[] | undefined;
  /** The time, in epoch milliseconds. */
  readonly now: number;
}

/** Tool calls by step. */
export type LiveTools = Readonly<Record<string, readonly TimelineTool[]>>;

/** Returns the tool calls of a turn that is followed live. */
export function liveToolsOf(state: ConversationState, turnId: string): LiveTools {
  const tools: Record<string, readonly TimelineTool[]> = {};
  for (const { stepId } of state.turns[turnId]?.steps ?? []) {
    tools[stepId] = toolCallsOf(state, stepId).map(({ call, result, status, inputs }) => ({
      toolCallId: call.toolCallId,
      toolName: call.toolName,
      status,
      durationMs: result?.durationMs,
      waitedMs: waitBeforeRun(
        inputs?.[0]?.request.kind,
        span(inputs?.[0]?.requestedAt, inputs?.[0]?.respondedAt),
        result?.durationMs,
      ),
    }));
  }
  return tools;
}

function span(from: number | undefined, to: number | undefined): number | undefined {
  return from === undefined || to === undefined ? undefined : Math.max(0, to - from);
}

/** Returns the wait before a call ran. A tool that asks while it runs does so within its own time. */
function waitBeforeRun(
  kind: string | undefined,
  waitedMs: number | undefined,
  durationMs: number | undefined,
): number | undefined {
  if (waitedMs === undefined) return undefined;
  return kind === "question" && durationMs !== undefined && durationMs >= waitedMs ? undefined : waitedMs;
}

interface AskedCall {
  readonly requestId: string;
  readonly kind: string;
  readonly at: number | undefined;
  readonly waitedMs?: number | undefined;
}

/** Returns the first request of each call, by call, and how long it was open. */
function waitsOf(chunks: readonly StoredChunk[]): ReadonlyMap<string, AskedCall> {
  const calls = new Map<string, AskedCall>();
  for (const { chunk, createdAt } of chunks) {
    if (chunk.type !== "system" || chunk.input === undefined) continue;
    const { input } = chunk;
    const known = calls.get(input.toolCallId);
    if (input.type === "input-request") {
      const { requestId, kind, toolCallId } = input;
      if (known === undefined) calls.set(toolCallId, { requestId, kind, at: createdAt });
    } else if (known !== undefined && known.requestId === input.requestId) {
      calls.set(input.toolCallId, { ...known, waitedMs: span(known.at, createdAt) });
    }
  }
  return calls;
}

/** Merges what is known of a turn. Stored figures are used for a sealed turn, live ones for an open turn. */
export function turnTimeline(sources: TurnSources): TimelineTurn {
  const { live, metrics, calls = [], now } = sources;
  const startedAt = sources.startedAt ?? live?.startedAt;
  const startOf = new Map<string, number>();
  for (const { stepId, purpose, startedAt: at } of calls) {
    if (purpose !== "compaction" && at !== undefined) startOf.set(stepId, at);
  }
  if (metrics !== undefined) {
    const waits = waitsOf(sources.chunks ?? []);
    return {
      startedAt,
      durationMs: metrics.durationMs,
      ...(metrics.waitedMs === undefined ? {} : { waitedMs: metrics.waitedMs }),
      steps: metrics.steps.map((step) => ({
        ...step,
        usage: knownUsage(step.usage),
        complete: true,
        startedAt: startOf.get(step.stepId),
        tools: (step.tools ?? []).map((tool) => {
          const asked = waits.get(tool.toolCallId);
          const waitedMs = waitBeforeRun(asked?.kind, asked?.waitedMs, tool.durationMs);
          const status = tool.isError ? "failed" : "done";
          return { ...tool, status, ...(waitedMs === undefined ? {} : { waitedMs }) };
        }),
      })),
    };
  }
  const isRunning = live?.status === "running";
  const steps: TimelineStep[] = (live?.steps ?? []).map((step) => ({
    ...step,
    usage: knownUsage(step.usage),
    startedAt: startOf.get(step.stepId),
    tools: toolsOf(step.stepId, step.tools, sources.liveTools),
  }));
  if (isRunning && isBetweenSteps(steps)) {
    steps.push({ stepId: `${live.turnId}/next` as StepId, complete: false, waiting: true, tools: [] });
  }
  return { startedAt, durationMs: live?.durationMs, ...(isRunning ? { now } : {}), steps };
}

function toolsOf(
  stepId: string,
  timings: TurnState["steps"][number]["tools"],
  live: LiveTools | undefined,
): readonly TimelineTool[] {
  const known = live?.[stepId];
  if (known !== undefined && known.length > 0) return known;
  return (timings ?? []).map((tool) => ({ ...tool, status: tool.isError ? "failed" : "done" }));
}

/** Returns true if the model was called, or is about to be, and no output has arrived. */
function isBetweenSteps(steps: readonly TimelineStep[]): boolean {
  const last = steps.at(-1);
  return (
    last === undefined ||
    (last.complete && last.tools.every(({ status }) => status === "done" || status === "failed"))
  );
}
