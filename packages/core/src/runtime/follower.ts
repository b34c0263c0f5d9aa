import type { AgentEvent, StepMetrics } from "@parley/wire";
import type { LogStore, LogStoreRoot, OpenTurnState } from "../log-store.js";
import type { HistoryEntry } from "../ports.js";
import { formatCursor } from "./cursor.js";
import { EventTail } from "./event-tail.js";
import type { Hub, SubscriptionFrame } from "./hub.js";
import { coalesce, decodeBatch, type NumberedEvent } from "./journal-batch.js";
import { chunksOf, joinFrames, type OpenTurnView } from "./live-turn.js";
import { closingEvents } from "./replay.js";

/** A turn that another node runs, as far as it is durable. */
class RemoteTurn implements OpenTurnView {
  readonly conversationId: string;
  readonly turnId: string;
  readonly epoch: number;
  readonly model: string | undefined;
  readonly startedAt: number;
  entries: readonly HistoryEntry[] = [];
  steps: readonly StepMetrics[] = [];
  committedSeq = 0;
  committedN = -1;
  lastN = -1;
  readonly #tail = new EventTail();

  constructor(conversationId: string, state: OpenTurnState) {
    this.conversationId = conversationId;
    this.turnId = state.turnId;
    this.epoch = state.fence;
    this.model = state.choices.model;
    this.startedAt = state.startedAt;
  }

  tailSince(n: number): NumberedEvent[] {
    return this.#tail.since(n);
  }

  /** Takes in what is durable now; returns the rows and the events that are new. */
  update(state: OpenTurnState): { entries: HistoryEntry[]; events: NumberedEvent[]; steps: StepMetrics[] } {
    const entries = state.entries.filter((entry) => (entry.lastSeq ?? 0) > this.committedSeq);
    const firstN = state.journal[0]?.firstN;
    const steps = state.steps.slice(this.steps.length);
    if (entries.length > 0) {
      this.entries = state.entries;
      this.committedSeq = entries.at(-1)?.lastSeq ?? this.committedSeq;
      this.#tail.clear();
      this.committedN = Math.max(this.lastN, firstN === undefined ? -1 : firstN - 1);
    }
    this.steps = state.steps;
    // The tail keeps every event, so that it can be cut anywhere; subscribers get them joined.
    const events = state.journal.flatMap((batch) => decodeBatch(batch, { afterN: this.lastN }));
    for (const { n, event } of events) {
      this.#tail.append(n, event);
      this.lastN = n;
    }
    return { entries, events: coalesce(events), steps };
  }
}

interface Room {
  readonly owner: string;
  /** Everything up to this seq has been published here. */
  seq: number;
  turn: RemoteTurn | undefined;
  /** One look at a time, and another one after it for whoever asked meanwhile. */
  looking: Promise<void> | undefined;
  again: boolean;
}

/**
 * Follows conversations whose turns run on other nodes, for the subscribers of this one. A room is kept per
 * conversation that someone here follows; each look reads what is durable since the last one and publishes the
 * difference. A wake-up only makes a look come sooner. While the turn runs on this node the room rests, and its
 * place is told by `settled`.
 */
export class Follower {
  readonly #hub: Hub;
  readonly #root: LogStoreRoot;
  readonly #runsHere: (conversationId: string) => boolean;
  readonly #onError: (error: unknown, conversationId: string) => void;
  readonly #rooms = new Map<string, Room>();

  constructor(options: {
    readonly hub: Hub;
    readonly root: LogStoreRoot;
    readonly runsHere: (conversationId: string) => boolean;
    readonly onError: (error: unknown, conversationId: string) => void;
  }) {
    this.#hub = options.hub;
    this.#root = options.root;
    this.#runsHere = options.runsHere;
    this.#onError = options.onError;
  }

  /** The open turn of a followed conversation as of the latest look, and the seq it stands on. */
  async view(
    owner: string,
    conversationId: string,
  ): Promise<{ seq: number; turn: OpenTurnView | undefined }> {
    const room = this.#rooms.get(conversationId) ?? (await this.#open(owner, conversationId));
    await this.look(conversationId);
    return { seq: room.seq, turn: room.turn };
  }

  /** A turn of this node has committed or ended: the room goes on from there. */
  settled(conversationId: string, seq: number): void {
    const room = this.#rooms.get(conversationId);
    if (room === undefined) return;
    room.seq = Math.max(room.seq, seq);
    room.turn = undefined;
  }

  forget(conversationId: string): void {
    this.#rooms.delete(conversationId);
  }

  lookAtAll(): void {
    for (const conversationId of this.#rooms.keys()) void this.look(conversationId);
  }

  /** Publishes what is new. Resolves when everything durable at the time of the call has been published. */
  async look(conversationId: string): Promise<void> {
    const room = this.#rooms.get(conversationId);
    if (room === undefined) return;
    if (room.looking !== undefined) {
      room.again = true;
      await room.looking;
      return;
    }
    room.looking = this.#lookUntilQuiet(conversationId, room);
    try {
      await room.looking;
    } finally {
      room.looking = undefined;
    }
  }

  async #lookUntilQuiet(conversationId: string, room: Room): Promise<void> {
    try {
      do {
        room.again = false;
        if (this.#runsHere(conversationId)) return;
        await this.#lookOnce(conversationId, room);
      } while (room.again && this.#rooms.get(conversationId) === room);
    } catch (error) {
      this.#onError(error, conversationId);
    }
  }

  async #open(owner: string, conversationId: string): Promise<Room> {
    const store = this.#root.forOwner(owner);
    const record = await store.get(conversationId);
    const known = this.#rooms.get(conversationId);
    if (known !== undefined) return known;
    const room: Room = {
      owner,
      seq: record?.lastSeq ?? 0,
      turn: undefined,
      looking: undefined,
      again: false,
    };
    if (record?.active?.purpose === "turn" && !this.#runsHere(conversationId)) {
      const state = await store.readOpenTurn({ conversationId });
      if (state !== null) {
        room.turn = new RemoteTurn(conversationId, state);
        room.turn.update(state);
        room.seq = room.turn.committedSeq;
      }
    }
    const raced = this.#rooms.get(conversationId);
    if (raced !== undefined) return raced;
    this.#rooms.set(conversationId, room);
    return room;
  }

  async #lookOnce(conversationId: string, room: Room): Promise<void> {
    const store = this.#root.forOwner(room.owner);
    const { turn } = room;
    const state = await store.readOpenTurn({
      conversationId,
      ...(turn === undefined ? {} : { afterN: turn.lastN, fence: turn.epoch }),
    });
    if (this.#runsHere(conversationId)) return;
    if (turn !== undefined && state?.turnId !== turn.turnId)
      await this.#tellEnd(store, conversationId, room, turn);
    if (state === null) {
      await this.#tellRows(store, conversationId, room, Number.MAX_SAFE_INTEGER);
      return;
    }
    if (turn?.turnId === state.turnId && turn.epoch === state.fence) {
      this.#tellUpdate(conversationId, room, turn, state);
      return;
    }
    const firstSeq = state.entries[0]?.firstSeq ?? room.seq + 1;
    await this.#tellRows(store, conversationId, room, firstSeq);
    const next = new RemoteTurn(conversationId, state);
    next.update(state);
    const before = room.seq;
    room.turn = next;
    room.seq = next.committedSeq;
    if (turn?.turnId === state.turnId)
      this.#publish(conversationId, { type: "chat.reset", conversationId, turnId: state.turnId });
    else this.#status(conversationId, "active", before);
    this.#tellChunks(
      conversationId,
      next,
      state.entries.filter((entry) => (entry.lastSeq ?? 0) > before),
    );
    for (const frame of joinFrames(next, { seq: before })) this.#publish(conversationId, frame);
  }

  #tellUpdate(conversationId: string, room: Room, turn: RemoteTurn, state: OpenTurnState): void {
    const { entries, events, steps } = turn.update(state);
    room.seq = turn.committedSeq;
    const delta = (event: AgentEvent, n: number) => this.#delta(conversationId, turn, event, n);
    if (entries.length > 0) {
      this.#tellChunks(conversationId, turn, entries);
      const fresh = new Set<string>(steps.map((step) => step.stepId));
      for (const frame of joinFrames({ ...viewOf(turn), tailSince: () => [] }, undefined)) {
        if (frame.type !== "chat.delta" || !("stepId" in frame.event)) continue;
        const { event } = frame;
        if ((event.type === "usage" || event.type === "step-complete") && fresh.has(event.stepId ?? "")) {
          this.#publish(conversationId, frame);
        }
      }
    }
    for (const { n, event } of events) delta(event, n);
  }

  async #tellEnd(store: LogStore, conversationId: string, room: Room, turn: RemoteTurn): Promise<void> {
    const ended = await store.readTurn(conversationId, turn.turnId);
    room.turn = undefined;
    if (ended === null) return;
    const rows = ended.entries.filter((entry) => (entry.lastSeq ?? 0) > room.seq);
    this.#tellChunks(conversationId, turn, rows);
    const { reason = "interrupted", metrics, firstSeq, lastSeq } = ended.turn;
    for (const event of closingEvents({ conversationId, turnId: turn.turnId, reason, metrics })) {
      this.#delta(conversationId, turn, event, turn.lastN);
    }
    room.seq = Math.max(room.seq, lastSeq);
    const cursor = formatCursor(room.seq);
    const { turnId } = turn;
    this.#publish(conversationId, {
      type: "chat.delta",
      cursor,
      event: { type: "turn-sealed", conversationId, turnId, firstSeq, lastSeq, reason },
    });
    const record = await store.get(conversationId);
    if (record !== null && record.status !== "active") this.#status(conversationId, record.status, room.seq);
  }

  /** Rows below `beforeSeq` that came without a turn that was followed here. */
  async #tellRows(store: LogStore, conversationId: string, room: Room, beforeSeq: number): Promise<void> {
    const { chunks } = await store.readChunks({ conversationId, sinceSeq: room.seq, beforeSeq, open: true });
    const last = chunks.at(-1);
    if (last === undefined || this.#runsHere(conversationId)) return;
    room.seq = last.seq;
    this.#publish(conversationId, {
      type: "chat.chunks",
      conversationId,
      chunks,
      cursor: formatCursor(last.seq),
    });
  }

  #tellChunks(conversationId: string, turn: OpenTurnView, entries: readonly HistoryEntry[]): void {
    const chunks = chunksOf(entries);
    const last = chunks.at(-1);
    if (last === undefined) return;
    const { turnId, epoch, lastN: n } = turn;
    const cursor = formatCursor(last.seq, { turnId, epoch, n: Math.min(n, turn.committedN) });
    this.#publish(conversationId, { type: "chat.chunks", conversationId, chunks, cursor });
  }

  #delta(conversationId: string, turn: OpenTurnView, event: AgentEvent, n: number): void {
    const { turnId, epoch, committedSeq } = turn;
    this.#publish(conversationId, {
      type: "chat.delta",
      event,
      cursor: formatCursor(committedSeq, { turnId, epoch, n }),
    });
  }

  #status(conversationId: string, status: string, seq: number): void {
    this.#publish(conversationId, {
      type: "chat.delta",
      event: { type: "status", conversationId, status },
      cursor: formatCursor(seq),
    });
  }

  #publish(conversationId: string, frame: SubscriptionFrame): void {
    this.#hub.publish(conversationId, frame);
  }
}

function viewOf(turn: OpenTurnView): OpenTurnView {
  const { conversationId, turnId, epoch, model, startedAt, committedSeq, committedN, entries, steps, lastN } =
    turn;
  return {
    conversationId,
    turnId,
    epoch,
    model,
    startedAt,
    committedSeq,
    committedN,
    entries,
    steps,
    lastN,
    tailSince: (n) => turn.tailSince(n),
  };
}
