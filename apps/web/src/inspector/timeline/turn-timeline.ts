import type { ConversationState, TurnState } from "@parley/client";
import { toolCallsOf } from "@parley/client";
import type { ProviderCallInfo, StepId, TurnMetrics } from "@parley/wire";
import { knownUsage } from "../figures/figures.js";
import type { TimelineStep, TimelineTool, TimelineTurn } from "./timeline.js";

/** What is known of a turn, from wherever: the live state, its metrics, its calls. */
export interface TurnSources {
  readonly live?: TurnState | undefined;
  /** The tool calls of the live turn, by step. */
  readonly liveTools?: LiveTools | undefined;
  /** Once the turn is sealed. */
  readonly metrics?: TurnMetrics | undefined;
  /** Epoch milliseconds. */
  readonly startedAt?: number | undefined;
  readonly calls?: readonly ProviderCallInfo[] | undefined;
  /** The time, in epoch milliseconds. */
  readonly now: number;
}

/** Tool calls by step. */
export type LiveTools = Readonly<Record<string, readonly TimelineTool[]>>;

/** The tool calls of a turn that is followed. */
export function liveToolsOf(state: ConversationState, turnId: string): LiveTools {
  const tools: Record<string, readonly TimelineTool[]> = {};
  for (const { stepId } of state.turns[turnId]?.steps ?? []) {
    tools[stepId] = toolCallsOf(state, stepId).map(({ call, result, status }) => ({
      toolCallId: call.toolCallId,
      toolName: call.toolName,
      status,
      durationMs: result?.durationMs,
    }));
  }
  return tools;
}

/** Brings what is known of a turn into one form. Of a sealed turn the stored figures count, of an open one the live ones. */
export function turnTimeline(sources: TurnSources): TimelineTurn {
  const { live, metrics, calls = [], now } = sources;
  const startedAt = sources.startedAt ?? live?.startedAt;
  const startOf = new Map<string, number>();
  for (const { stepId, purpose, startedAt: at } of calls) {
    if (purpose !== "compaction" && at !== undefined) startOf.set(stepId, at);
  }
  if (metrics !== undefined) {
    return {
      startedAt,
      durationMs: metrics.durationMs,
      steps: metrics.steps.map((step) => ({
        ...step,
        usage: knownUsage(step.usage),
        complete: true,
        startedAt: startOf.get(step.stepId),
        tools: (step.tools ?? []).map((tool) => ({ ...tool, status: tool.isError ? "failed" : "done" })),
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

/** The model was asked, or is about to be, and nothing of its answer has come. */
function isBetweenSteps(steps: readonly TimelineStep[]): boolean {
  const last = steps.at(-1);
  return last === undefined || (last.complete && last.tools.every(({ status }) => status !== "running"));
}
