import { checkOfChunk, isCheckedRow, type RowCheck } from "@parley/fold";
import type { StoredChunk } from "@parley/wire";
import { isParleyError, ParleyError } from "../../errors.js";
import type { LogStore, LogStoreRoot, OpenTurnState } from "../../ports/log-store.js";
import type { HistoryEntry } from "../../ports.js";
import type { Environment } from "../environment.js";
import type { LeaseEvents } from "../nodes/lease-events.js";
import type { RunningTurns } from "../turns/running-turns.js";
import { checkOfLast } from "./cursor.js";
import { type CommittedPlace, chunksFrame, chunksOf, committedCursor, statusFrame } from "./frames.js";
import type { Hub } from "./hub.js";
import { OpenTurn, type Publish } from "./open-turn.js";

/** Number of chunks that are read at once when a follower has fallen behind. */
const pageSize = 500;

/** A conversation that has subscribers on this node, and what has been published of it. */
export interface FollowedConversation {
  readonly owner: string;
  readonly conversationId: string;
  readonly log: number;
  /** Everything up to this seq has been published here. */
  seq: number;
  /** The row that was published last, as far as it is known. */
  check: RowCheck | undefined;
  /** The turn that was open at the last poll. Out of date while a turn runs on this node. */
  turn: OpenTurn | undefined;
  /** The poll in progress: one at a time, and another one after it for callers that arrived meanwhile. */
  looking: Promise<void> | undefined;
  again: boolean;
}

/**
 * Publishes to the subscribers of this node what other nodes write, and keeps track of what has been published.
 *
 * Each poll (`look`) reads the durable state and publishes what is new since the last one: the end of the turn that
 * was followed, turns that opened and ended meanwhile, rows outside turns, and the turn that is open now. A wake-up
 * only makes a poll come sooner.
 *
 * A turn that runs on this node publishes itself, and there is no poll meanwhile. Before it publishes anything,
 * `catchUpTo` publishes what comes before it. When it is sealed, `published` records how far it came; if it is still
 * open but no longer runs here, `resume` continues from it.
 */
export class Follower {
  readonly #hub: Hub<FollowedConversation>;
  readonly #root: LogStoreRoot;
  readonly #running: Pick<RunningTurns, "active">;
  readonly #leases: Pick<LeaseEvents, "orphaned">;
  readonly #report: Environment["report"];

  constructor(options: {
    readonly hub: Hub<FollowedConversation>;
    readonly root: LogStoreRoot;
    readonly running: Pick<RunningTurns, "active">;
    readonly leases: Pick<LeaseEvents, "orphaned">;
    readonly report: Environment["report"];
  }) {
    this.#hub = options.hub;
    this.#root = options.root;
    this.#running = options.running;
    this.#leases = options.leases;
    this.#report = options.report;
  }

  /** Returns a conversation as it is currently published. Rejects if there is none, or another one in its place. */
  async follow(conversation: {
    readonly owner: string;
    readonly conversationId: string;
    readonly log: number;
  }): Promise<FollowedConversation> {
    const followed = this.#hub.kept(conversation.log) ?? (await this.#open(conversation));
    await this.catchUp(conversation.log);
    return followed;
  }

  /** Returns true if something below a seq has not been published here. */
  isBehind(log: number, seq: number): boolean {
    const followed = this.#hub.kept(log);
    if (followed === undefined) return false;
    return followed.turn !== undefined || followed.looking !== undefined || followed.seq !== seq - 1;
  }

  /** Publishes everything below the first seq of a turn that runs on this node and has published nothing. */
  async catchUpTo(log: number, firstSeq: number): Promise<void> {
    const followed = this.#hub.kept(log);
    if (followed === undefined) return;
    // A poll in progress sees that the turn runs here, and leaves the rest to this.
    await followed.looking?.catch(() => {});
    try {
      if (followed.turn === undefined && followed.seq >= firstSeq) throw new LogReplaced();
      await this.#publishEnded(this.#root.forOwner(followed.owner), followed, firstSeq);
    } catch (error) {
      if (!(error instanceof LogReplaced)) throw error;
      this.#hub.end(log, error);
    }
    this.published(log, { seq: firstSeq - 1, check: undefined });
  }

  /** Records that everything up to a place has been published, and that no turn is open there. */
  published(log: number, { seq, check }: CommittedPlace): void {
    const followed = this.#hub.kept(log);
    if (followed === undefined) return;
    if (check !== undefined && seq >= followed.seq) followed.check = check;
    followed.seq = Math.max(followed.seq, seq);
    followed.turn = undefined;
  }

  /**
   * Publishes rows that this node wrote outside a turn. Returns false, with nothing published, if rows before them
   * are still to be published, or these may have been: then a poll finds out.
   */
  publishRows(log: number, entries: readonly HistoryEntry[]): boolean {
    const followed = this.#hub.kept(log);
    if (followed === undefined) return true;
    const last = entries.at(-1);
    if (last?.lastSeq === undefined || this.isBehind(log, entries[0]?.firstSeq ?? 0)) return false;
    followed.seq = last.lastSeq;
    followed.check = checkOfLast(entries);
    this.#hub.publish(
      log,
      chunksFrame(followed.conversationId, chunksOf(entries), committedCursor(followed)),
    );
    return true;
  }

  /** Continues with a turn that is still open, but no longer runs on this node. */
  resume(turn: OpenTurn): void {
    const followed = this.#hub.kept(turn.log);
    if (followed === undefined) return;
    followed.turn = turn;
    followed.seq = turn.committedSeq;
    followed.check = checkOfLast(turn.entries);
    void this.look(turn.log);
  }

  /**
   * Returns the conversations that are followed here with no turn running, and the seq up to which each is published.
   */
  marks(): { log: number; owner: string; seq: number }[] {
    const marks: { log: number; owner: string; seq: number }[] = [];
    for (const [log, { owner, seq, turn }] of this.#hub.allKept()) {
      const isStill = turn === undefined || turn.waiting !== undefined;
      if (isStill && !this.#runsHere(log)) marks.push({ log, owner, seq });
    }
    return marks;
  }

  /** Polls every turn that runs on another node. */
  lookAtTurns(): void {
    for (const [log, { turn }] of this.#hub.allKept()) {
      if (turn !== undefined && turn.waiting === undefined) void this.look(log);
    }
  }

  /** Publishes what is new; a failure is reported, and left to the next poll. */
  async look(log: number): Promise<void> {
    const followed = this.#hub.kept(log);
    // Each flush of the journal calls this for every turn that runs here, so it has to be cheap.
    if (followed === undefined || (followed.looking === undefined && this.#runsHere(log))) return;
    await this.catchUp(log).catch((error: unknown) => this.#failed(followed, error));
  }

  /**
   * Resolves when everything durable at the time of the call has been published. `state` is the open turn, if the
   * caller has read it and holds its lease, so that it need not be read again.
   */
  async catchUp(log: number, state?: OpenTurnState): Promise<void> {
    const followed = this.#hub.kept(log);
    if (followed === undefined) return;
    if (followed.looking === undefined) followed.looking = this.#lookUntilQuiet(followed, state);
    else followed.again = true;
    await followed.looking;
  }

  async #lookUntilQuiet(followed: FollowedConversation, state: OpenTurnState | undefined): Promise<void> {
    const { log } = followed;
    // It is marked before anything here can end, and unmarked synchronously with the last check.
    await Promise.resolve();
    let known = state;
    try {
      do {
        followed.again = false;
        if (this.#runsHere(log)) return;
        await this.#lookOnce(followed, known);
        known = undefined;
      } while (followed.again && this.#hub.kept(log) === followed);
    } finally {
      followed.looking = undefined;
    }
  }

  #failed({ conversationId, log }: FollowedConversation, error: unknown): void {
    if (isParleyError(error) && error.code === "conversation_not_found") {
      this.#hub.end(log, new ParleyError("conversation_not_found", "The conversation was deleted"));
    } else if (error instanceof LogReplaced) this.#hub.end(log, error);
    else this.#report(error, "follow", conversationId);
  }

  async #open(
    conversation: Pick<FollowedConversation, "owner" | "conversationId" | "log">,
  ): Promise<FollowedConversation> {
    const { owner, conversationId, log } = conversation;
    const store = this.#root.forOwner(owner);
    const record = await store.get(conversationId);
    if (record?.log !== log) throw new ParleyError("conversation_not_found");
    const state =
      record.active?.purpose === "turn" && !this.#runsHere(log)
        ? await store.readOpenTurn({ conversationId })
        : null;
    const known = this.#hub.kept(log);
    if (known !== undefined) return known;
    const turn = state === null ? undefined : OpenTurn.stored(owner, conversationId, state);
    // All of this is part of the join point.
    if (state !== null) turn?.update(state, () => {});
    const seq = turn?.committedSeq ?? record.lastSeq;
    const check = checkOfLast(state?.entries ?? []);
    const followed = { owner, conversationId, log, seq, check, turn, looking: undefined, again: false };
    // Not kept if the last subscriber has left meanwhile.
    this.#hub.keep(log, followed);
    return followed;
  }

  async #lookOnce(followed: FollowedConversation, known: OpenTurnState | undefined): Promise<void> {
    const { conversationId, log } = followed;
    const store = this.#root.forOwner(followed.owner);
    const state = known ?? (await this.#read(store, followed));
    if (state === "quiet" || this.#runsHere(log) || this.#hub.kept(log) !== followed) {
      return;
    }
    if (state?.node === "" && state.waitingSince === undefined) this.#leases.orphaned();
    const { turn } = followed;
    if (state !== null && turn?.turnId === state.turnId) {
      turn.update(state, this.#publisher(log));
      followed.seq = turn.committedSeq;
      followed.check = checkOfLast(state.entries);
      return;
    }
    const hasEnded = await this.#publishEnded(store, followed, state?.entries[0]?.firstSeq);
    if (this.#runsHere(log) || this.#hub.kept(log) !== followed) return;
    if (state === null) {
      if (hasEnded) await this.#publishStatus(store, followed);
      return;
    }
    const next = OpenTurn.stored(followed.owner, conversationId, state);
    followed.check = checkOfLast(state.entries);
    this.#hub.publish(log, statusFrame(conversationId, "active", followed));
    next.update(state, this.#publisher(log));
    followed.turn = next;
    followed.seq = next.committedSeq;
  }

  /** Reads the open turn; null if there is none. Most polls find nothing, which a cheaper read shows. */
  async #read(store: LogStore, followed: FollowedConversation): Promise<OpenTurnState | null | "quiet"> {
    const { conversationId, turn } = followed;
    if (turn === undefined && (await this.#isQuiet(store, followed))) return "quiet";
    const since = turn === undefined ? {} : { afterN: turn.lastN, fence: turn.epoch };
    return store.readOpenTurn({ conversationId, ...since });
  }

  async #isQuiet(store: LogStore, { conversationId, log, seq }: FollowedConversation): Promise<boolean> {
    const record = await store.get(conversationId);
    // Another log under the same id is another conversation: this one was removed.
    if (record?.log !== log) throw new ParleyError("conversation_not_found");
    if (record.lastSeq < seq) throw new LogReplaced();
    return record.active?.purpose !== "turn" && record.lastSeq === seq;
  }

  /**
   * Publishes what is final and has not been published, below `beforeSeq`: the rest of the turn that was followed,
   * whole turns that no subscriber here has seen, and rows outside turns. Returns true if a turn was among it.
   */
  async #publishEnded(
    store: LogStore,
    followed: FollowedConversation,
    beforeSeq = Number.MAX_SAFE_INTEGER,
  ): Promise<boolean> {
    let hasEnded = false;
    const { turn, owner, conversationId, log } = followed;
    if (turn !== undefined) {
      hasEnded = await this.#publishEnd(store, followed, turn);
      if (!hasEnded) return false;
    }
    while (followed.seq + 1 < beforeSeq) {
      const chunks = await this.#readOn(store, followed, beforeSeq);
      const [first] = chunks;
      if (first === undefined) break;
      if (first.turnId === undefined) {
        const others = chunks.findIndex((chunk) => chunk.turnId !== undefined);
        const rows = others === -1 ? chunks : chunks.slice(0, others);
        followed.seq = rows.at(-1)?.seq ?? followed.seq;
        followed.check = checkOfChunk(rows.at(-1));
        this.#hub.publish(log, chunksFrame(conversationId, rows, committedCursor(followed)));
        continue;
      }
      const { turnId } = first;
      const beforeTurn = followed.seq;
      const ids = { owner, conversationId, log, turnId };
      const unseen = new OpenTurn({ ...ids, epoch: 0, startedAt: 0, beforeSeq: beforeTurn });
      if (!(await this.#publishEnd(store, followed, unseen))) break;
      hasEnded = true;
    }
    return hasEnded;
  }

  /** Reads the next page of rows. Rejects if the row that was published last is no longer there. */
  async #readOn(
    store: LogStore,
    followed: FollowedConversation,
    end: number,
  ): Promise<readonly StoredChunk[]> {
    const { conversationId, seq, check } = followed;
    const beforeSeq = Math.min(end, seq + pageSize + 1);
    const isChecked = check?.seq === seq;
    const { chunks } = await store.readChunks({
      conversationId,
      sinceSeq: isChecked ? seq - 1 : seq,
      beforeSeq,
    });
    if (!isChecked) return chunks;
    if (!isCheckedRow(chunks[0], check)) throw new LogReplaced();
    return chunks.slice(1);
  }

  /**
   * Publishes the end of a turn; for one that no subscriber here has seen, also its start. False if it has not ended.
   */
  async #publishEnd(store: LogStore, followed: FollowedConversation, turn: OpenTurn): Promise<boolean> {
    const { conversationId, log } = turn;
    const found = await store.readTurn(conversationId, turn.turnId);
    // The next read shows if the conversation still exists.
    if (found === null)
      throw (await store.get(conversationId)) === null
        ? new ParleyError("conversation_not_found")
        : new LogReplaced();
    if (found.turn.status !== "sealed") return false;
    const isUnseen = followed.turn !== turn;
    followed.check = checkOfLast(found.entries);
    if (isUnseen) this.#hub.publish(log, statusFrame(conversationId, "active", followed));
    turn.end(found, this.#publisher(log));
    followed.turn = undefined;
    followed.seq = Math.max(followed.seq, found.turn.lastSeq);
    return true;
  }

  async #publishStatus(store: LogStore, followed: FollowedConversation): Promise<void> {
    const { conversationId, log } = followed;
    const record = await store.get(conversationId);
    if (record === null || record.status === "active" || this.#runsHere(log)) return;
    this.#hub.publish(log, statusFrame(conversationId, record.status, followed));
  }

  #runsHere(log: number): boolean {
    return this.#running.active(log) !== undefined;
  }

  #publisher(log: number): Publish {
    return (frame, readers) => this.#hub.publish(log, frame, readers);
  }
}

/**
 * The log no longer holds what was published here: it was restored to an earlier state under this node. Subscribers
 * reconnect with their cursor, and the check in it makes them start over.
 */
class LogReplaced extends ParleyError {
  constructor() {
    super(
      "store_unavailable",
      "The log was restored to an earlier state; subscribe again with the newest cursor",
    );
  }
}
