import { eventTraits, type formatCursor, type NumberedEvent, openCursor, type TurnEvent } from "@parley/fold";
import type { StepMetrics } from "@parley/wire";
import type { OpenedTurn } from "../../log-store.js";
import type { HistoryEntry } from "../../ports.js";
import { checkOfLast } from "./cursor.js";
import { EventTail } from "./event-tail.js";
import { chunksFrame, chunksOf, eventFrame } from "./frames.js";
import { type Audience, deliver } from "./hub.js";
import type { JournalWriter } from "./journal.js";

/** An open turn as subscribers join it: what is committed, and what came since. */
export interface OpenTurnView {
  readonly conversationId: string;
  readonly turnId: string;
  readonly epoch: number;
  readonly model?: string | undefined;
  readonly startedAt: number;
  /** The last committed seq. */
  readonly committedSeq: number;
  /** The number of the last event that is in rows. */
  readonly committedN: number;
  readonly entries: readonly HistoryEntry[];
  readonly steps: readonly StepMetrics[];
  /** The number of the newest event that was told. */
  readonly lastN: number;
  /** Events that are not in rows, after `n`, one per part. */
  tailSince(n: number): NumberedEvent[];
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
  readonly startedAt: number;
  readonly entries: HistoryEntry[];
  model: string | undefined;
  /** The provider that is asked, once it is known. */
  providerName: string | undefined;
  steps: readonly StepMetrics[];
  committedSeq: number;
  committedN: number;
  /** Set when the turn is, or may be, another node's: nothing is published or written any more. */
  lost = false;
  readonly #tail: EventTail;
  readonly #writer: JournalWriter;
  readonly #audience: () => Audience | undefined;
  #toldN: number;
  /** Makes the cursor of an event; anew after each commit. */
  #cursor: (n: number) => ReturnType<typeof formatCursor>;

  constructor(options: {
    readonly owner: string;
    readonly conversationId: string;
    readonly opened: OpenedTurn;
    readonly openJournal: (tail: EventTail) => JournalWriter;
    /** Those who may be told now; undefined when there is nobody, or nothing may be told. */
    readonly audience: () => Audience | undefined;
    /** Of a turn that was taken over: its committed steps, and what its journal holds. */
    readonly from?: { readonly steps: readonly StepMetrics[]; readonly kept: readonly NumberedEvent[] };
  }) {
    const { opened, from } = options;
    const kept = from?.kept ?? [];
    this.owner = options.owner;
    this.conversationId = options.conversationId;
    this.turnId = opened.turnId;
    this.epoch = opened.fence;
    this.model = opened.choices.model;
    this.startedAt = opened.startedAt;
    this.entries = [...opened.entries];
    this.steps = from?.steps ?? [];
    this.committedSeq = opened.entries.at(-1)?.lastSeq ?? 0;
    this.committedN = (kept[0]?.n ?? 0) - 1;
    this.#tail = new EventTail(this.committedN);
    for (const { n, event } of kept) this.#tail.append(n, event);
    this.#toldN = this.#tail.lastN;
    this.#writer = options.openJournal(this.#tail);
    this.#audience = options.audience;
    this.#cursor = openCursor(this.committedSeq, checkOfLast(this.entries), this);
  }

  get lastN(): number {
    return this.#toldN;
  }

  tailSince(n: number): NumberedEvent[] {
    return this.#tail.since(n, this.#toldN);
  }

  /** Takes the next event. A returned promise resolves when the event may count as told. */
  emit(event: TurnEvent): Promise<void> | undefined {
    if (this.lost) return undefined;
    const n = this.#tail.push(event);
    this.#writer.appended(event);
    if (eventTraits[event.type].durable === "journal") return this.#tellDurable(n, event);
    this.#tell(n, event);
    return undefined;
  }

  /** By itself: with callbacks inside, `emit` would allocate what they hold for every delta, too. */
  #tellDurable(n: number, event: TurnEvent): Promise<void> {
    return this.#writer.flush().then(
      () => this.#tell(n, event),
      () => {},
    );
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
    this.#toldN = this.#tail.lastN;
    this.committedN = this.#toldN;
    this.#cursor = openCursor(this.committedSeq, checkOfLast(this.entries), this);
    this.publishChunks(entries);
  }

  publishChunks(entries: readonly HistoryEntry[]): void {
    const audience = this.lost || entries.length === 0 ? undefined : this.#audience();
    if (audience === undefined) return;
    deliver(audience, chunksFrame(this.conversationId, chunksOf(entries), this.#cursor(this.#toldN)));
  }

  #tell(n: number, event: TurnEvent): void {
    if (this.lost) return;
    this.#toldN = n;
    const audience = this.#audience();
    if (audience !== undefined) deliver(audience, eventFrame(event, this.#cursor(n)));
  }
}
