import type { NumberedEvent, TurnEvent } from "@parley/fold";
import type { StepId } from "@parley/wire";

type DeltaEvent = Extract<TurnEvent, { type: "text-delta" | "reasoning-delta" }>;

/**
 * Consecutive events: one event, or the deltas of one part joined into one text, with the length of each of them, so
 * that the run can still be cut at any event.
 */
export interface EventRun {
  readonly firstN: number;
  /** The event, or the first of the deltas. */
  readonly event: TurnEvent;
  /** The text of all deltas. */
  text: string;
  /** Undefined for an event that is not a delta. */
  readonly lengths: number[] | undefined;
}

/** Returns the number of a run's last event. */
export function lastNOf(run: EventRun): number {
  return run.firstN + (run.lengths?.length ?? 1) - 1;
}

/** Returns the part of a run after `n` and up to `throughN`; undefined if it is empty. */
export function cutRun(run: EventRun, n: number, throughN: number): EventRun | undefined {
  const { firstN, lengths } = run;
  const lastN = lastNOf(run);
  if (lastN <= n || firstN > throughN || throughN <= n) return undefined;
  if (lengths === undefined || (firstN > n && lastN <= throughN)) return run;
  const from = Math.max(0, n + 1 - firstN);
  const to = Math.min(lengths.length, throughN + 1 - firstN);
  let start = 0;
  for (let index = 0; index < from; index += 1) start += lengths[index] ?? 0;
  let end = start;
  for (let index = from; index < to; index += 1) end += lengths[index] ?? 0;
  return {
    firstN: firstN + from,
    event: run.event,
    text: run.text.slice(start, end),
    lengths: lengths.slice(from, to),
  };
}

/** Returns a run as the one event that a late reader is sent, under the number of its last one. */
export function joinRun(run: EventRun): NumberedEvent {
  const { event, lengths } = run;
  if (lengths === undefined) return { n: run.firstN, event };
  return { n: lastNOf(run), event: { ...event, delta: run.text } as DeltaEvent };
}

/**
 * Written form of a batch: the deltas of one part as one text with the length of each, so that a token is stored once
 * and without an envelope of its own.
 */
type BatchRecord =
  | readonly ["t" | "r", string, string, number, string, readonly number[]]
  | readonly ["e", Omit<TurnEvent, "conversationId" | "turnId">];

/** Writes consecutive events as the text of one journal row. */
export function encodeBatch(runs: readonly EventRun[]): string {
  return JSON.stringify(runs.map(recordOf));
}

function recordOf({ event, text, lengths }: EventRun): BatchRecord {
  if (lengths !== undefined && isPlainDelta(event)) {
    const kind = event.type === "text-delta" ? "t" : "r";
    return [kind, event.stepId ?? "", event.messageId ?? "", event.partIndex ?? 0, text, lengths];
  }
  const { conversationId: _, turnId: __, ...rest } = event;
  return ["e", rest];
}

/** Reads a batch back. `afterN` leaves out earlier events, also in the middle of a run of deltas. */
export function decodeBatch(
  conversationId: string,
  batch: {
    readonly turnId: string;
    readonly firstN: number;
    readonly data: string;
  },
  options: { readonly afterN?: number } = {},
): NumberedEvent[] {
  const { turnId } = batch;
  const afterN = options.afterN ?? -1;
  const events: NumberedEvent[] = [];
  let n = batch.firstN;
  const push = (event: TurnEvent) => {
    if (n > afterN) events.push({ n, event });
    n += 1;
  };
  for (const record of JSON.parse(batch.data) as BatchRecord[]) {
    if (record[0] === "e") {
      push({ conversationId, turnId, ...record[1] } as TurnEvent);
      continue;
    }
    const [kind, stepId, messageId, partIndex, text, lengths] = record;
    let start = 0;
    for (const length of lengths) {
      push({
        type: kind === "t" ? "text-delta" : "reasoning-delta",
        conversationId,
        turnId,
        stepId: stepId as StepId,
        messageId,
        partIndex,
        delta: text.slice(start, start + length),
      });
      start += length;
    }
  }
  return events;
}

/** Joins neighboring deltas of the same part: sent to a late reader instead of every token. */
export function coalesce(events: readonly NumberedEvent[]): NumberedEvent[] {
  const joined: NumberedEvent[] = [];
  for (const { n, event } of events) {
    const last = joined.at(-1);
    if (
      last !== undefined &&
      isPlainDelta(event) &&
      isPlainDelta(last.event) &&
      samePart(last.event, event)
    ) {
      joined[joined.length - 1] = { n, event: { ...event, delta: last.event.delta + event.delta } };
    } else {
      joined.push({ n, event });
    }
  }
  return joined;
}

/** Returns true for a delta with nothing but its text; one with metadata keeps its own record. */
export function isPlainDelta(event: TurnEvent): event is DeltaEvent {
  return (
    (event.type === "text-delta" || event.type === "reasoning-delta") &&
    event.providerMetadata === undefined &&
    event.stepId !== undefined &&
    event.messageId !== undefined &&
    event.partIndex !== undefined
  );
}

/** Returns true if two deltas grow the same part. */
export function samePart(a: DeltaEvent, b: DeltaEvent): boolean {
  return (
    a.type === b.type && a.partIndex === b.partIndex && a.messageId === b.messageId && a.stepId === b.stepId
  );
}
