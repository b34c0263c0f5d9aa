import {
  closingEvents,
  eventTraits,
  type NumberedEvent,
  omitUndefined,
  openCursor,
  type SubscriptionFrame,
  type TurnEvent,
} from "@parley/fold";
import type {
  Cursor,
  OutputVerdict,
  StepMetrics,
  TurnOutput,
  TurnProgress,
  TurnReason,
  WaitingInfo,
} from "@parley/wire";
import { ParleyError } from "../../errors.js";
import type { OpenTurnState, SealResult, TurnRecord } from "../../ports/log-store.js";
import type { HistoryEntry } from "../../ports.js";
import { turnOutput } from "../../turn/output/output.js";
import { waitingOf } from "../input/waiting-info.js";
import { checkOfLast } from "./cursor.js";
import { EventDeduplicator } from "./event-deduplicator.js";
import { EventTail } from "./event-tail.js";
import {
  chunksFrame,
  chunksOf,
  committedCursor,
  eventFrame,
  resetFrame,
  sealedFrame,
  statusFrame,
} from "./frames.js";
import { type Audience, deliver, type Readers } from "./hub.js";
import type { JournalWriter } from "./journal.js";
import { coalesce, decodeBatch } from "./journal-batch.js";
import { isUnanswered, messagesOf, replayRows } from "./replay.js";

/** Publishes a frame to all subscribers of a conversation, or only to those that read events and no rows. */
export type Publish = (frame: SubscriptionFrame, readers?: Readers) => void;

/** Connects an open turn to the node that runs it. */
export interface LocalFeed {
  /** Opens the turn's part of the journal, which follows the tail. */
  readonly openJournal: (tail: EventTail) => JournalWriter;
  /**
   * Returns the subscribers that may be sent something now; undefined if there are none, or nothing may be published.
   */
  readonly audience: () => Audience | undefined;
}

const noAudience = () => undefined;

/**
 * An open turn as this node knows it: its committed rows, and its events since the last commit.
 *
 * It is fed in one of two ways. While the turn runs on this node, its run feeds it: `emit` numbers, journals and
 * publishes an event, `commit` adds rows. Text is published immediately and journaled soon after; a tool's result is
 * published once it is durable. A turn that does not run here is read from the store: `update` takes the durable
 * state of the open turn, `end` that of the sealed one, and both publish what is new. `leave` switches from the first
 * way to the second, when the turn is open and no longer runs here. A turn that is taken over starts as a new object.
 */
export class OpenTurn {
  readonly owner: string;
  readonly conversationId: string;
  readonly log: number;
  readonly turnId: string;
  readonly startedAt: number;
  /** Verdict on the data that the turn had to return, once it is sealed here. */
  verdict: OutputVerdict | undefined;
  /** The fence of the turn's holder. */
  epoch: number;
  model: string | undefined;
  /** The provider that is called, once this node has chosen it. */
  providerName: string | undefined;
  steps: readonly StepMetrics[];
  /** The last committed seq. */
  committedSeq: number;
  /** The number of the last event that is in rows. */
  committedN: number;
  /** Requests that the turn waits for while no node holds it. */
  waiting: WaitingInfo | undefined;
  /** The state of a turn that runs here and shows nothing new. */
  #progress: TurnProgress | undefined;
  #entries: HistoryEntry[];
  #tail: EventTail;
  #publishedN: number;
  /** Makes the cursor of an event; replaced after each commit. */
  #cursor: (n: number) => Cursor;
  /** Undefined if the turn does not run on this node: nothing is journaled, and nothing is published by `emit`. */
  #writer: JournalWriter | undefined;
  readonly #audience: () => Audience | undefined;
  /** The events that were published, for a turn that is read from the store: made with the first read. */
  #published: EventDeduplicator | undefined;
  #resetFirst = false;

  constructor(turn: {
    readonly owner: string;
    readonly conversationId: string;
    readonly log: number;
    readonly turnId: string;
    readonly epoch: number;
    readonly startedAt: number;
    readonly model?: string | undefined;
    /** The last seq before the turn. */
    readonly beforeSeq: number;
    /** Rows that have been published, or are about to be. */
    readonly entries?: readonly HistoryEntry[];
    readonly steps?: readonly StepMetrics[] | undefined;
    /** The events in the journal of a turn that was taken over. */
    readonly kept?: readonly NumberedEvent[] | undefined;
    /** Set for a turn that runs on this node. */
    readonly feed?: LocalFeed;
  }) {
    const { entries = [], steps = [], kept = [], feed } = turn;
    this.owner = turn.owner;
    this.conversationId = turn.conversationId;
    this.log = turn.log;
    this.turnId = turn.turnId;
    this.epoch = turn.epoch;
    this.startedAt = turn.startedAt;
    this.model = turn.model;
    this.providerName = undefined;
    this.steps = steps;
    this.committedSeq = entries.at(-1)?.lastSeq ?? turn.beforeSeq;
    this.committedN = (kept[0]?.n ?? 0) - 1;
    this.#entries = [...entries];
    this.#tail = new EventTail(this.committedN);
    for (const { n, event } of kept) this.#tail.append(n, event);
    this.#publishedN = this.#tail.lastN;
    this.#cursor = this.#cursorMaker();
    this.#writer = feed?.openJournal(this.#tail);
    this.#audience = feed?.audience ?? noAudience;
  }

  /** Makes the view of an open turn that was read from the store, before any of it is published. */
  static stored(owner: string, conversationId: string, state: OpenTurnState): OpenTurn {
    const { log, turnId, fence: epoch, startedAt, choices, entries } = state;
    const beforeSeq = (entries[0]?.firstSeq ?? 1) - 1;
    const ids = { owner, conversationId, log, turnId };
    return new OpenTurn({ ...ids, epoch, startedAt, model: choices.model, beforeSeq });
  }

  /** The committed rows. */
  get entries(): readonly HistoryEntry[] {
    return this.#entries;
  }

  /** The number of the newest event that was published. */
  get lastN(): number {
    return this.#publishedN;
  }

  /** Returns the published events after `n` that are not in rows, one per part. */
  tailSince(n: number): NumberedEvent[] {
    return this.#tail.since(n, this.#publishedN);
  }

  /** Formats the cursor of an event. */
  cursorAt(n: number): Cursor {
    return this.#cursor(n);
  }

  /** Publishes the turn's start: the conversation's active status, and the rows that opened the turn. */
  publishOpening(): void {
    const seq = (this.#entries[0]?.firstSeq ?? 1) - 1;
    const audience = this.#audience();
    if (audience === undefined) return;
    const place = { seq, check: checkOfLast(this.#entries) };
    deliver(audience, statusFrame(this.conversationId, "active", place));
    this.#publishRows(this.#entries);
  }

  /** Adds the next event. A returned promise resolves when the event counts as published. */
  emit(event: TurnEvent): Promise<void> | undefined {
    const writer = this.#writer;
    if (writer === undefined) return undefined;
    if (this.#progress !== undefined) this.publishProgress(undefined);
    const n = this.#tail.push(event);
    writer.appended(event);
    if (eventTraits[event.type].durable === "journal") return this.#publishDurable(writer, n, event);
    this.#publish(n, event);
    return undefined;
  }

  /** A separate method: with callbacks inside, `emit` would also allocate what they capture for every delta. */
  #publishDurable(writer: JournalWriter, n: number, event: TurnEvent): Promise<void> {
    return writer.flush().then(
      () => this.#publish(n, event),
      () => {},
    );
  }

  #publish(n: number, event: TurnEvent): void {
    if (this.#writer === undefined) return;
    this.#publishedN = n;
    const audience = this.#audience();
    if (audience !== undefined) deliver(audience, eventFrame(event, this.#cursor(n)));
  }

  /** Prepares a commit: no event that the commit turns into rows may reach the journal after it. */
  async beforeCommit(): Promise<void> {
    if (this.#writer === undefined) throw new ParleyError("stale_fence");
    await this.#writer.discard();
  }

  /** Adds and publishes the rows of a commit: they contain everything since the last one. */
  commit(entries: readonly HistoryEntry[], steps: readonly StepMetrics[]): void {
    if (this.#writer === undefined) return;
    this.#entries.push(...entries);
    this.committedSeq = entries.at(-1)?.lastSeq ?? this.committedSeq;
    this.steps = steps;
    this.#tail.clear();
    this.#publishedN = this.#tail.lastN;
    this.committedN = this.#publishedN;
    this.#cursor = this.#cursorMaker();
    this.#publishRows(entries);
  }

  /** The data that the turn returned, once it is sealed; undefined if it had to return none. */
  get output(): TurnOutput | undefined {
    return turnOutput(this.verdict, messagesOf(this.#entries));
  }

  /** Publishes the end of a turn whose last rows were committed, and the conversation's status if no turn follows. */
  publishSealed(reason: TurnReason, { firstSeq, lastSeq, next, status }: SealResult): void {
    const audience = this.#writer === undefined ? undefined : this.#audience();
    if (audience === undefined) return;
    const { conversationId, turnId } = this;
    const place = { seq: lastSeq, check: checkOfLast(this.#entries) };
    const sealed = { conversationId, turnId, firstSeq, lastSeq, reason, output: this.output };
    deliver(audience, sealedFrame(sealed, committedCursor(place)));
    if (next === undefined) deliver(audience, statusFrame(conversationId, status, place));
  }

  /** Publishes an event that the committed rows state. */
  publishStated(event: TurnEvent): void {
    const audience = this.#writer === undefined ? undefined : this.#audience();
    if (audience !== undefined) deliver(audience, eventFrame(event, this.#cursor(this.#publishedN)));
  }

  /** Publishes that the turn waits from now on. */
  publishWaiting(waiting: WaitingInfo): void {
    this.waiting = waiting;
    const audience = this.#writer === undefined ? undefined : this.#audience();
    if (audience !== undefined) deliver(audience, this.waitingFrame());
  }

  /** The state of the turn while it runs here and shows nothing new. */
  get progress(): TurnProgress | undefined {
    return this.#progress;
  }

  /**
   * Publishes the reason that the turn shows nothing new, or that this is over. The next event ends it as well. Not
   * stored.
   */
  publishProgress(progress: TurnProgress | undefined): void {
    if (this.#writer === undefined || progress === this.#progress) return;
    this.#progress = progress;
    const audience = this.#audience();
    if (audience !== undefined) deliver(audience, this.progressFrame());
  }

  /** Makes the frame of the turn's progress. */
  progressFrame(): SubscriptionFrame {
    const { conversationId, turnId } = this;
    const event = { type: "turn-progress" as const, conversationId, turnId };
    return eventFrame(
      { ...event, ...omitUndefined({ progress: this.#progress }) },
      this.#cursor(this.#publishedN),
    );
  }

  /** Makes the frame of a turn's status: that it waits, or that it continues. */
  waitingFrame(): SubscriptionFrame {
    const { conversationId, waiting } = this;
    const event = { type: "status" as const, conversationId, status: "active" };
    return eventFrame({ ...event, ...omitUndefined({ waiting }) }, this.#cursor(this.#publishedN));
  }

  #publishRows(entries: readonly HistoryEntry[]): void {
    const audience = entries.length === 0 ? undefined : this.#audience();
    if (audience === undefined) return;
    deliver(audience, chunksFrame(this.conversationId, chunksOf(entries), this.#cursor(this.#publishedN)));
  }

  /**
   * Ends the feed of this node: from here on the turn is read from the store. Everything in rows was published. If
   * the turn is lost, more was published than may last, so a reset to discard it is published first.
   */
  leave(isLost: boolean): void {
    this.#writer = undefined;
    this.#progress = undefined;
    this.#published = undefined;
    this.#tail = new EventTail(this.committedN);
    this.#publishedN = this.committedN;
    this.#resetFirst = isLost;
  }

  /**
   * Takes the durable state of the open turn, and publishes what is new: the events of rows that were committed
   * before their journal was read here, then the rows, then the events of the journal.
   */
  update(state: OpenTurnState, publish: Publish): void {
    this.#reset(publish);
    const published = this.#publishedEvents();
    // Batches of earlier holders keep their numbers; a new holder continues counting after them, or starts again if
    // there are none.
    const isKept = (batch: { fence: number }) => batch.fence <= this.epoch;
    const events = state.journal.flatMap((batch) =>
      decodeBatch(this.conversationId, batch, isKept(batch) ? { afterN: this.#tail.lastN } : {}),
    );
    this.model ??= modelIn(state, events);
    const isRestarted = state.fence !== this.epoch && !state.journal.some(isKept);
    const rows = state.entries.filter((entry) => (entry.lastSeq ?? 0) > this.committedSeq);
    this.steps = state.steps;
    if (rows.length > 0) {
      this.#entries = [...state.entries];
      this.#cursor = this.#cursorMaker();
      // Until something is answered the journal holds the events of the opening.
      if (!isUnanswered(this.#entries)) this.#publishMissed(published.rest(replayRows(this)), publish);
    }
    this.epoch = state.fence;
    if (isRestarted || rows.length > 0) {
      this.committedN = (events[0]?.n ?? (isRestarted ? 0 : this.#tail.lastN + 1)) - 1;
      this.#tail = new EventTail(this.committedN);
    }
    this.committedSeq = rows.at(-1)?.lastSeq ?? this.committedSeq;
    this.#cursor = this.#cursorMaker();
    if (rows.length > 0) {
      published.complete(rows.map(({ message }) => message.id));
      publish(chunksFrame(this.conversationId, chunksOf(rows), this.#cursor(this.committedN)));
    }
    const fresh: NumberedEvent[] = [];
    for (const each of events) {
      // An event that was published from a row before is not part of the tail.
      if (!published.take(each.event)) continue;
      this.#tail.append(each.n, each.event);
      fresh.push(each);
    }
    this.#publishedN = this.#tail.lastN;
    for (const { n, event } of coalesce(fresh)) publish(eventFrame(event, this.#cursor(n)));
    this.#updateWaiting(waitingOf(state), publish);
  }

  #updateWaiting(waiting: WaitingInfo | undefined, publish: Publish): void {
    const isSame =
      waiting?.count === this.waiting?.count && String(waiting?.kinds) === String(this.waiting?.kinds);
    this.waiting = waiting;
    if (!isSame) publish(this.waitingFrame());
  }

  /** Publishes what is left of a turn that is over. */
  end(
    ended: { readonly turn: TurnRecord; readonly entries: readonly HistoryEntry[] },
    publish: Publish,
  ): void {
    const { conversationId, turnId } = this;
    const { reason = "interrupted", metrics, firstSeq, lastSeq, startedAt, choices } = ended.turn;
    const { entries } = ended;
    const published = this.#publishedEvents();
    this.#entries = [...entries];
    this.#cursor = this.#cursorMaker();
    this.#reset(publish);
    const steps = metrics?.steps ?? this.steps;
    const model = metrics?.model ?? choices.model;
    const committed = { conversationId, turnId, startedAt, model, entries, steps };
    const all = [
      ...replayRows(committed, { isSealed: true }),
      ...closingEvents({ conversationId, turnId, reason, metrics }),
    ];
    this.#publishMissed(published.rest(all), publish);
    const rows = entries.filter((entry) => (entry.lastSeq ?? 0) > this.committedSeq);
    this.committedSeq = rows.at(-1)?.lastSeq ?? this.committedSeq;
    this.#cursor = this.#cursorMaker();
    if (rows.length > 0) publish(chunksFrame(conversationId, chunksOf(rows), this.#cursor(this.lastN)));
    const place = { seq: lastSeq, check: checkOfLast(entries) };
    const output = turnOutput(metrics?.output, messagesOf(entries));
    publish(
      sealedFrame({ conversationId, turnId, firstSeq, lastSeq, reason, output }, committedCursor(place)),
    );
  }

  /** Publishes events made from rows: those that the rows contain themselves only to readers of events. */
  #publishMissed(events: readonly TurnEvent[], publish: Publish): void {
    for (const event of events) {
      const readers = eventTraits[event.type].inRows ? "events" : "all";
      publish(eventFrame(event, this.#cursor(this.lastN)), readers);
    }
  }

  #publishedEvents(): EventDeduplicator {
    if (this.#published === undefined) {
      this.#published = new EventDeduplicator();
      if (!isUnanswered(this.#entries)) this.#published.rest(replayRows(this));
      this.#published.complete(this.#entries.map(({ message }) => message.id));
    }
    return this.#published;
  }

  #reset(publish: Publish): void {
    if (!this.#resetFirst) return;
    this.#resetFirst = false;
    const cursor = committedCursor({ seq: this.committedSeq, check: checkOfLast(this.#entries) });
    publish(resetFrame(this.conversationId, this.turnId, cursor));
  }

  #cursorMaker(): (n: number) => Cursor {
    return openCursor(this.committedSeq, checkOfLast(this.#entries), this);
  }
}

/** Returns the model that the node of the turn has chosen, if the turn itself named none. */
function modelIn({ steps }: OpenTurnState, events: readonly NumberedEvent[]): string | undefined {
  for (const { event } of events) if (event.type === "turn-start") return event.model;
  return steps[0]?.model;
}
