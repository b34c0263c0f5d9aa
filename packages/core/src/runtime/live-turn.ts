import type { AgentEvent, StepMetrics, StoredChunk } from "@parley/wire";
import type { OpenedTurn } from "../log-store.js";
import { toStoredChunks } from "../messages/wire-chunks.js";
import type { HistoryEntry } from "../ports.js";
import { type CursorPlace, formatCursor } from "./cursor.js";
import { EventTail } from "./event-tail.js";
import type { SubscriptionFrame } from "./hub.js";
import type { JournalWriter } from "./journal.js";
import type { NumberedEvent, TurnEvent } from "./journal-batch.js";
import { replayTurn } from "./replay.js";

/** An open turn as subscribers join it: what is committed, and what came since. */
export interface OpenTurnView {
  readonly conversationId: string;
  readonly turnId: string;
  readonly epoch: number;
  readonly model?: string | undefined;
  readonly startedAt: number;
  /** The last committed seq. */
  readonly committedSeq: number;
  /** The number of the last event before the last commit. */
  readonly committedN: number;
  readonly entries: readonly HistoryEntry[];
  readonly steps: readonly StepMetrics[];
  /** The number of the newest event. */
  readonly lastN: number;
  /** Events after the last commit and after `n`, one per part. */
  tailSince(n: number): NumberedEvent[];
}

/**
 * The frames that bring a reader from its place to the newest event of an open turn, behind the committed
 * chunks. Without a place the whole turn is told from its first event.
 */
export function joinFrames(view: OpenTurnView, place: CursorPlace | undefined): SubscriptionFrame[] {
  const { conversationId, turnId, epoch, committedSeq, committedN } = view;
  const delta = (event: AgentEvent, n: number): SubscriptionFrame => ({
    type: "chat.delta",
    event,
    cursor: formatCursor(committedSeq, { turnId, epoch, n }),
  });
  // Until the first commit the opening events are still in the tail; after it, the rows speak for them.
  const told = view.entries.every(({ message }) => message.role === "user") ? [] : replayTurn(view);
  if (place === undefined) {
    return [
      ...told.map((event) => delta(event, committedN)),
      ...view.tailSince(committedN).map(({ n, event }) => delta(event, n)),
    ];
  }
  const frames: SubscriptionFrame[] = [];
  const known = place.open?.turnId === turnId && place.open.epoch === epoch && place.open.n <= view.lastN;
  const fresh = place.open === undefined;
  if (!known && !fresh) frames.push({ type: "chat.reset", conversationId, turnId });
  if (!known || place.seq < committedSeq) {
    // The chunks hold what was said; the figures of the steps are told beside them.
    for (const event of told) {
      if (event.type === "usage" || event.type === "step-complete" || event.type === "turn-start") {
        frames.push(delta(event, committedN));
      }
    }
  }
  const from = known ? Math.max(place.open?.n ?? -1, committedN) : committedN;
  for (const { n, event } of view.tailSince(from)) frames.push(delta(event, n));
  return frames;
}

/** The chunks of committed rows. */
export function chunksOf(entries: readonly HistoryEntry[]): StoredChunk[] {
  return entries.flatMap((entry) =>
    toStoredChunks(entry.message, {
      firstSeq: entry.firstSeq ?? 0,
      ...(entry.turnId === undefined ? {} : { turnId: entry.turnId }),
      ...(entry.stepId === undefined ? {} : { stepId: entry.stepId }),
    }),
  );
}

/**
 * A turn that this node runs: numbers its events, publishes and journals them, and knows what is committed.
 * Text is published at once and journaled soon after; a tool's result is published once it is durable.
 */
export class LiveTurn implements OpenTurnView {
  readonly owner: string;
  readonly conversationId: string;
  readonly turnId: string;
  readonly epoch: number;
  readonly model: string | undefined;
  readonly startedAt: number;
  readonly entries: HistoryEntry[];
  steps: readonly StepMetrics[] = [];
  committedSeq: number;
  committedN = -1;
  /** Set when another node has taken over: nothing is published or written any more. */
  lost = false;
  readonly #tail = new EventTail();
  readonly #writer: JournalWriter;
  readonly #publish: (frame: SubscriptionFrame) => void;
  #nextN: number;

  constructor(options: {
    readonly owner: string;
    readonly conversationId: string;
    readonly opened: OpenedTurn;
    readonly model: string | undefined;
    readonly writer: JournalWriter;
    readonly publish: (frame: SubscriptionFrame) => void;
    /** Where a turn that was taken over goes on. */
    readonly from?: { readonly n: number; readonly steps: readonly StepMetrics[] };
  }) {
    const { opened } = options;
    this.owner = options.owner;
    this.conversationId = options.conversationId;
    this.turnId = opened.turnId;
    this.epoch = opened.fence;
    this.model = options.model;
    this.startedAt = opened.startedAt;
    this.entries = [...opened.entries];
    this.committedSeq = opened.entries.at(-1)?.lastSeq ?? 0;
    this.#writer = options.writer;
    this.#publish = options.publish;
    this.#nextN = options.from?.n ?? 0;
    this.steps = options.from?.steps ?? [];
    this.committedN = this.#nextN - 1;
  }

  get lastN(): number {
    return this.#nextN - 1;
  }

  tailSince(n: number): NumberedEvent[] {
    return this.#tail.since(n);
  }

  /** Takes the next event. A returned promise resolves when the event may count as told. */
  emit(event: TurnEvent): Promise<void> | undefined {
    if (this.lost) return undefined;
    const n = this.#nextN;
    this.#nextN += 1;
    this.#writer.append(n, event);
    if (event.type !== "tool-result") {
      this.#tell(n, event);
      return undefined;
    }
    return this.#writer.flush().then(
      () => this.#tell(n, event),
      () => {},
    );
  }

  /** An event that an earlier holder of the turn has journaled: told again, neither written nor numbered anew. */
  recall(n: number, event: TurnEvent): void {
    this.#tell(n, event);
  }

  /** Before a commit: no event that the commit turns into rows may reach the journal after it. */
  beforeCommit(): Promise<void> {
    return this.#writer.discard();
  }

  /** After a commit: what came since the last one is in rows now. */
  committed(entries: readonly HistoryEntry[], steps: readonly StepMetrics[]): void {
    if (entries.length > 0) {
      this.entries.push(...entries);
      this.committedSeq = entries.at(-1)?.lastSeq ?? this.committedSeq;
    }
    this.steps = steps;
    this.#tail.clear();
    this.committedN = this.lastN;
    this.publishChunks(entries);
  }

  publishChunks(entries: readonly HistoryEntry[]): void {
    if (this.lost || entries.length === 0) return;
    const { conversationId, turnId, epoch } = this;
    this.#publish({
      type: "chat.chunks",
      conversationId,
      chunks: chunksOf(entries),
      cursor: formatCursor(this.committedSeq, { turnId, epoch, n: this.lastN }),
    });
  }

  #tell(n: number, event: TurnEvent): void {
    if (this.lost) return;
    this.#tail.append(n, event);
    const { turnId, epoch } = this;
    this.#publish({
      type: "chat.delta",
      event,
      cursor: formatCursor(this.committedSeq, { turnId, epoch, n }),
    });
  }
}
