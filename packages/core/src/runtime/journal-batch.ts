import type { AgentEvent, StepId } from "@parley/wire";

/** An event of a turn with its number. */
export interface NumberedEvent {
  readonly n: number;
  readonly event: TurnEvent;
}

/** The events that belong to a turn and are numbered in it: all but the ones that stand outside. */
export type TurnEvent = Exclude<AgentEvent, { type: "status" } | { type: "turn-sealed" }>;

type DeltaEvent = Extract<TurnEvent, { type: "text-delta" | "reasoning-delta" }>;

/**
 * How a batch is written: a run of deltas of one part as one text with the length of each delta, so that a
 * token is stored once, without an envelope of its own, and the batch can still be cut at any event.
 */
type BatchRecord =
  | readonly ["t" | "r", string, string, number, string, readonly number[]]
  | readonly ["e", Omit<TurnEvent, "conversationId" | "turnId">];

/** Writes consecutive events as the text of one journal row. */
export function encodeBatch(events: readonly TurnEvent[]): string {
  const records: BatchRecord[] = [];
  let run: { first: DeltaEvent; text: string; lengths: number[] } | undefined;
  const close = () => {
    if (run === undefined) return;
    const { first, text, lengths } = run;
    const kind = first.type === "text-delta" ? "t" : "r";
    records.push([kind, first.stepId ?? "", first.messageId ?? "", first.partIndex ?? 0, text, lengths]);
    run = undefined;
  };
  for (const event of events) {
    if (isPlainDelta(event)) {
      if (run !== undefined && samePart(run.first, event)) {
        run.text += event.delta;
        run.lengths.push(event.delta.length);
      } else {
        close();
        run = { first: event, text: event.delta, lengths: [event.delta.length] };
      }
    } else {
      close();
      const { conversationId: _, turnId: __, ...rest } = event;
      records.push(["e", rest]);
    }
  }
  close();
  return JSON.stringify(records);
}

/** Reads a batch back. `afterN` leaves out what came before, also in the middle of a run of deltas. */
export function decodeBatch(
  batch: {
    readonly conversationId: string;
    readonly turnId: string;
    readonly firstN: number;
    readonly data: string;
  },
  options: { readonly afterN?: number } = {},
): NumberedEvent[] {
  const { conversationId, turnId } = batch;
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

/** Joins neighbouring deltas of the same part: what a late reader is sent instead of every token. */
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

/** A delta that says nothing but its text; one with metadata keeps its own record. */
export function isPlainDelta(event: TurnEvent): event is DeltaEvent {
  return (
    (event.type === "text-delta" || event.type === "reasoning-delta") &&
    event.providerMetadata === undefined &&
    event.stepId !== undefined &&
    event.messageId !== undefined &&
    event.partIndex !== undefined
  );
}

export function samePart(a: DeltaEvent, b: DeltaEvent): boolean {
  return (
    a.type === b.type && a.partIndex === b.partIndex && a.messageId === b.messageId && a.stepId === b.stepId
  );
}
