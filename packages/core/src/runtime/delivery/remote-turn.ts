import { closingEvents, type NumberedEvent, openCursor, type SubscriptionFrame } from "@parley/fold";
import type { AgentEvent, StepMetrics } from "@parley/wire";
import type { OpenTurnState, TurnRecord } from "../../log-store.js";
import type { HistoryEntry } from "../../ports.js";
import { checkOfLast } from "./cursor.js";
import { EventDeduplicator } from "./event-deduplicator.js";
import { EventTail } from "./event-tail.js";
import { chunksFrame, chunksOf, committedCursor, eventFrame, resetFrame, sealedFrame } from "./frames.js";
import { coalesce, decodeBatch } from "./journal-batch.js";
import type { OpenTurnView } from "./live-turn.js";
import { isUnanswered, replayRows } from "./replay.js";

/**
 * A turn that this node follows in the store, and what its subscribers here have been told of it.
 *
 * Each look brings the turn as it is durable. Rows and journal are taken in, and what is new comes out as frames:
 * first the events that a commit has turned into rows before they were read here, then the rows, then what the
 * journal holds. So those who hear events alone hear every one, and those who keep chunks get them.
 */
export class RemoteTurn implements OpenTurnView {
  readonly conversationId: string;
  readonly turnId: string;
  readonly startedAt: number;
  model: string | undefined;
  epoch: number;
  entries: readonly HistoryEntry[] = [];
  steps: readonly StepMetrics[] = [];
  committedSeq: number;
  committedN = -1;
  #tail = new EventTail();
  readonly #told = new EventDeduplicator();
  #resetFirst = false;

  constructor(turn: {
    readonly conversationId: string;
    readonly turnId: string;
    readonly epoch: number;
    readonly startedAt: number;
    readonly model?: string | undefined;
    /** The last seq before the turn. */
    readonly beforeSeq: number;
  }) {
    this.conversationId = turn.conversationId;
    this.turnId = turn.turnId;
    this.epoch = turn.epoch;
    this.startedAt = turn.startedAt;
    this.model = turn.model;
    this.committedSeq = turn.beforeSeq;
  }

  /**
   * Goes on from a turn that ran on this node until it was given up: what is in rows was told. Where it was lost,
   * more was told than may last, so subscribers are asked to forget it.
   */
  static after(view: OpenTurnView, isLost: boolean): RemoteTurn {
    const beforeSeq = (view.entries[0]?.firstSeq ?? 1) - 1;
    const turn = new RemoteTurn({ ...idsOf(view), startedAt: view.startedAt, model: view.model, beforeSeq });
    turn.entries = [...view.entries];
    turn.steps = view.steps;
    turn.committedSeq = view.committedSeq;
    turn.committedN = view.committedN;
    turn.#tail = new EventTail(view.committedN);
    if (!isUnanswered(turn.entries)) turn.#told.rest(replayRows(turn));
    turn.#told.complete(turn.entries.map(({ message }) => message.id));
    turn.#resetFirst = isLost;
    return turn;
  }

  get lastN(): number {
    return this.#tail.lastN;
  }

  tailSince(n: number): NumberedEvent[] {
    return this.#tail.since(n);
  }

  /** Takes in what is durable now, and returns what brings the subscribers there. */
  update(state: OpenTurnState): SubscriptionFrame[] {
    const frames = this.#reset();
    // Batches of earlier holders keep their numbers; a new holder counts on behind them, or anew if there are none.
    const isKept = (batch: { fence: number }) => batch.fence <= this.epoch;
    const events = state.journal.flatMap((batch) =>
      decodeBatch(batch, isKept(batch) ? { afterN: this.lastN } : {}),
    );
    this.model ??= modelIn(state, events);
    const isRestarted = state.fence !== this.epoch && !state.journal.some(isKept);
    const rows = state.entries.filter((entry) => (entry.lastSeq ?? 0) > this.committedSeq);
    if (rows.length > 0) frames.push(...this.#tellBehind(state));
    this.epoch = state.fence;
    this.steps = state.steps;
    if (isRestarted || rows.length > 0) {
      this.committedN = (events[0]?.n ?? (isRestarted ? 0 : this.lastN + 1)) - 1;
      this.#tail = new EventTail(this.committedN);
    }
    if (rows.length > 0) {
      this.#told.complete(rows.map(({ message }) => message.id));
      frames.push(this.#chunks(rows, this.committedN));
      this.committedSeq = rows.at(-1)?.lastSeq ?? this.committedSeq;
    }
    const fresh: NumberedEvent[] = [];
    for (const each of events) {
      // Told from a row before: it is no part of the tail.
      if (!this.#told.take(each.event)) continue;
      this.#tail.append(each.n, each.event);
      fresh.push(each);
    }
    for (const { n, event } of coalesce(fresh)) frames.push(this.#delta(event, n));
    return frames;
  }

  /** The turn is over: what is left to tell of it. */
  end(ended: { readonly turn: TurnRecord; readonly entries: readonly HistoryEntry[] }): SubscriptionFrame[] {
    const { conversationId, turnId } = this;
    const { reason = "interrupted", metrics, firstSeq, lastSeq, startedAt, choices } = ended.turn;
    this.entries = ended.entries;
    const frames = this.#reset();
    const steps = metrics?.steps ?? this.steps;
    const model = metrics?.model ?? choices.model;
    const committed = { conversationId, turnId, startedAt, model, entries: ended.entries, steps };
    const told = [
      ...replayRows(committed, { isSealed: true }),
      ...closingEvents({ conversationId, turnId, reason, metrics }),
    ];
    for (const event of this.#told.rest(told)) frames.push(this.#delta(event, this.lastN));
    const rows = ended.entries.filter((entry) => (entry.lastSeq ?? 0) > this.committedSeq);
    if (rows.length > 0) frames.push(this.#chunks(rows, this.lastN));
    const end = committedCursor({ seq: lastSeq, check: checkOfLast(ended.entries) });
    frames.push(sealedFrame({ conversationId, turnId, firstSeq, lastSeq, reason }, end));
    return frames;
  }

  /** The events that have become rows before they were read here. */
  #tellBehind(state: OpenTurnState): SubscriptionFrame[] {
    this.entries = state.entries;
    this.steps = state.steps;
    // Until something is answered the journal holds the events of the opening.
    const events = isUnanswered(this.entries) ? [] : this.#told.rest(replayRows(this));
    return events.map((event) => this.#delta(event, this.lastN));
  }

  #reset(): SubscriptionFrame[] {
    if (!this.#resetFirst) return [];
    this.#resetFirst = false;
    const cursor = committedCursor({ seq: this.committedSeq, check: checkOfLast(this.entries) });
    return [resetFrame(this.conversationId, this.turnId, cursor)];
  }

  #chunks(rows: readonly HistoryEntry[], n: number): SubscriptionFrame {
    const cursor = openCursor(rows.at(-1)?.lastSeq ?? this.committedSeq, checkOfLast(rows), this)(n);
    return chunksFrame(this.conversationId, chunksOf(rows), cursor);
  }

  #delta(event: AgentEvent, n: number): SubscriptionFrame {
    return eventFrame(event, openCursor(this.committedSeq, checkOfLast(this.entries), this)(n));
  }
}

/** The model that the node of the turn has chosen, where the turn itself named none. */
function modelIn({ steps }: OpenTurnState, events: readonly NumberedEvent[]): string | undefined {
  for (const { event } of events) if (event.type === "turn-start") return event.model;
  return steps[0]?.model;
}

function idsOf({ conversationId, turnId, epoch }: OpenTurnView) {
  return { conversationId, turnId, epoch };
}
