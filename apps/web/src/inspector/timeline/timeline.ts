import type { Usage } from "@parley/wire";

/** A tool call of a step, as far as it is known. */
export interface TimelineTool {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly status: "waiting" | "running" | "done" | "failed";
  /** From dispatch to result. Absent: unknown, or not finished yet. */
  readonly durationMs?: number | undefined;
  /** From the request for a decision to the decision. Absent: none was requested, or it is still pending. */
  readonly waitedMs?: number | undefined;
}

/** A step, as far as it is known. */
export interface TimelineStep {
  readonly stepId: string;
  /** True if the model has finished writing. */
  readonly complete: boolean;
  /** No output has arrived yet: the elapsed time is time to the first token. */
  readonly waiting?: boolean | undefined;
  /** Epoch milliseconds. Absent: right after the step before it. */
  readonly startedAt?: number | undefined;
  readonly ttftMs?: number | undefined;
  readonly decodeMs?: number | undefined;
  readonly genTotalMs?: number | undefined;
  readonly toolMs?: number | undefined;
  readonly usage?: Usage | undefined;
  readonly model?: string | undefined;
  readonly tools: readonly TimelineTool[];
}

/** A turn, running or sealed. */
export interface TimelineTurn {
  /** Epoch milliseconds. */
  readonly startedAt?: number | undefined;
  /** Epoch milliseconds; present while the turn is running: unfinished bars extend to here. */
  readonly now?: number | undefined;
  readonly durationMs?: number | undefined;
  /** The part of the duration in which it waited for decisions and nothing ran. Absent: not known, or none. */
  readonly waitedMs?: number | undefined;
  readonly steps: readonly TimelineStep[];
}

/**
 * Kind of a bar. `wait`: until the first token. `decode`: from the first token to the last. `generate`: both, if the
 * first token's time is not known. `input`: a call waits for a decision.
 */
export type BarKind = "wait" | "decode" | "generate" | "input" | "tool";

/** A span of time, in milliseconds from the turn's start. */
export interface TimelineBar {
  readonly kind: BarKind;
  readonly startMs: number;
  readonly endMs: number;
  /** It is not finished. */
  readonly open: boolean;
}

/** One line of the chart: the model's part of a step, or one of its tools. Tools of a step have a lane each. */
export interface TimelineRow {
  readonly key: string;
  readonly kind: "model" | "tool";
  /** Index of the step in the turn, from 0. */
  readonly stepIndex: number;
  readonly label: string;
  readonly failed: boolean;
  /** Empty: the times are unknown. */
  readonly bars: readonly TimelineBar[];
  /** From the first bar's start to the last bar's end, without waiting for a decision. Absent: unknown. */
  readonly durationMs?: number;
}

/** Time that the turn spent, by purpose. The rest of the duration is Parley's own: reading, committing, compacting. */
export interface TimeSpent {
  readonly waitMs: number;
  readonly writeMs: number;
  readonly toolMs: number;
  /** Waiting for decisions while nothing ran. Absent: none. */
  readonly inputMs?: number;
  /** Absent if the turn's duration is not known. */
  readonly restMs?: number;
}

/** A turn laid out on an axis of time. */
export interface Timeline {
  readonly rows: readonly TimelineRow[];
  /** The length of the axis; at least 1. */
  readonly totalMs: number;
  readonly spent: TimeSpent;
}

/**
 * Lays out a turn's steps in time. A step is placed at its start if that is known, otherwise right after the step
 * before it; its tools start when the model has finished writing, all at once, because that is when they are
 * dispatched; a call that waits for a decision starts after it.
 *
 * A turn is stamped when its message is admitted, and its duration is counted from when the work on it starts, which is
 * later. So steps that would end after the turn's own end show how much later, and are moved by that.
 */
export function layoutTimeline(turn: TimelineTurn): Timeline {
  const timeline = layoutFrom(turn, turn.startedAt);
  const lateMs = turn.durationMs === undefined ? 0 : timeline.totalMs - Math.max(1, turn.durationMs);
  return lateMs > 0 && turn.startedAt !== undefined ? layoutFrom(turn, turn.startedAt + lateMs) : timeline;
}

function layoutFrom(turn: TimelineTurn, origin: number | undefined): Timeline {
  const elapsedMs =
    turn.now === undefined || turn.startedAt === undefined
      ? undefined
      : Math.max(0, turn.now - turn.startedAt);
  const rows: TimelineRow[] = [];
  const sums = { waitMs: 0, writeMs: 0, toolMs: 0 };
  let inputMs = 0;
  let reachedMs = 0;
  turn.steps.forEach((step, stepIndex) => {
    const startMs = Math.max(reachedMs, offsetOf(step.startedAt, origin) ?? reachedMs);
    const nowMs = turn.now === undefined ? undefined : Math.max(startMs, elapsedMs ?? startMs);
    const bars = modelBars(step, startMs, nowMs);
    const writtenMs = bars.at(-1)?.endMs ?? startMs;
    rows.push(rowOf({ key: step.stepId, kind: "model", stepIndex, label: `Step ${stepIndex + 1}`, bars }));
    let toolsEndMs = writtenMs;
    for (const tool of step.tools) {
      const lane = toolBars(tool, writtenMs, nowMs);
      toolsEndMs = Math.max(toolsEndMs, lane.at(-1)?.endMs ?? writtenMs);
      rows.push(
        rowOf({
          key: `${step.stepId}/${tool.toolCallId}`,
          kind: "tool",
          stepIndex,
          label: tool.toolName,
          failed: tool.status === "failed",
          bars: lane,
        }),
      );
    }
    const afterMs = Math.max(toolsEndMs - writtenMs, step.toolMs ?? 0);
    const toolMs = step.tools.some(isAsked) ? Math.min(afterMs, workMs(step)) : afterMs;
    inputMs += afterMs - toolMs;
    for (const { kind, startMs: from, endMs } of bars) {
      if (kind === "wait") sums.waitMs += endMs - from;
      else sums.writeMs += endMs - from;
    }
    sums.toolMs += toolMs;
    reachedMs = writtenMs + afterMs;
  });
  const lengthMs = turn.durationMs ?? elapsedMs;
  const waitedMs = turn.waitedMs ?? inputMs;
  const spentMs = sums.waitMs + sums.writeMs + sums.toolMs + waitedMs;
  return {
    rows,
    totalMs: Math.max(1, reachedMs, lengthMs ?? 0),
    spent: {
      ...sums,
      ...(waitedMs > 0 ? { inputMs: waitedMs } : {}),
      ...(lengthMs === undefined ? {} : { restMs: Math.max(0, lengthMs - spentMs) }),
    },
  };
}

function offsetOf(at: number | undefined, origin: number | undefined): number | undefined {
  return at === undefined || origin === undefined ? undefined : at - origin;
}

function modelBars(step: TimelineStep, startMs: number, nowMs: number | undefined): TimelineBar[] {
  const { ttftMs, decodeMs, genTotalMs } = step;
  if (ttftMs !== undefined && decodeMs !== undefined) {
    const firstMs = startMs + ttftMs;
    return [
      { kind: "wait", startMs, endMs: firstMs, open: false },
      { kind: "decode", startMs: firstMs, endMs: firstMs + decodeMs, open: false },
    ];
  }
  if (genTotalMs !== undefined) {
    return [{ kind: "generate", startMs, endMs: startMs + genTotalMs, open: false }];
  }
  if (step.complete || nowMs === undefined) return [];
  return [{ kind: step.waiting === true ? "wait" : "generate", startMs, endMs: nowMs, open: true }];
}

function isAsked({ status, waitedMs }: TimelineTool): boolean {
  return status === "waiting" || waitedMs !== undefined;
}

/** Returns the time in which tools of a step ran, without waiting for decisions. */
function workMs({ toolMs, tools }: TimelineStep): number {
  return toolMs ?? Math.max(0, ...tools.map(({ durationMs = 0 }) => durationMs));
}

function toolBars(tool: TimelineTool, fromMs: number, nowMs: number | undefined): TimelineBar[] {
  const { status, durationMs, waitedMs } = tool;
  const bars: TimelineBar[] = [];
  const add = (kind: BarKind, startMs: number, endMs: number, open: boolean) =>
    bars.push({ kind, startMs, endMs: Math.max(startMs, endMs), open });
  if (status === "waiting") {
    if (nowMs !== undefined) add("input", fromMs, nowMs, true);
    return bars;
  }
  const startMs = fromMs + (waitedMs ?? 0);
  if (waitedMs !== undefined) add("input", fromMs, startMs, false);
  if (durationMs !== undefined) add("tool", startMs, startMs + durationMs, false);
  else if (status === "running" && nowMs !== undefined) add("tool", startMs, nowMs, true);
  return bars;
}

function rowOf(row: Omit<TimelineRow, "failed" | "durationMs"> & { failed?: boolean }): TimelineRow {
  const worked = row.bars.filter(({ kind }) => kind !== "input");
  const first = worked[0];
  const last = worked.at(-1);
  return {
    ...row,
    failed: row.failed ?? false,
    ...(first === undefined || last === undefined ? {} : { durationMs: last.endMs - first.startMs }),
  };
}

/** Returns round values on an axis from 0 to `totalMs`, at most `count` in addition to 0. */
export function timeTicks(totalMs: number, count: number): readonly number[] {
  const least = totalMs / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= least) ?? least;
  const ticks: number[] = [];
  for (let index = 0; index * step <= totalMs; index += 1) ticks.push(index * step);
  return ticks;
}
