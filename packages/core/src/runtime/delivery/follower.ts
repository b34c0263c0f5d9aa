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

/** How many chunks are read at once when a follower has fallen behind. */
const pageSize = 500;

/** A conversation that someone here follows, and what has been published of it. */
export interface FollowedConversation {
  readonly owner: string;
  /** Everything up to this seq has been published here. */
  seq: number;
  /** The row that was published last, as far as it is known. */
  check: RowCheck | undefined;
  /** The turn that was open at the last look. Out of date while a turn runs on this node. */
  turn: OpenTurn | undefined;
  /** One look at a time, and another one after it for whoever asked meanwhile. */
  looking: Promise<void> | undefined;
  again: boolean;
}

/**
 * Publishes to the subscribers of this node what other nodes write, and keeps track of what has been published.
 *
 * Each look reads what is durable and publishes what is new since the last one: the end of the turn that was followed,
 * turns that came and went meanwhile, rows outside turns, and the turn that is open now. A wake-up only makes a look
 * come sooner.
 *
 * While a turn runs on this node it publishes itself, and no look is taken. Before it publishes anything, `catchUpTo`
 * publishes what comes before it. When it is sealed, `published` says how far it came; when it is open still but runs
 * here no more, `resume` goes on from it.
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

  /** Returns a conversation as it is published now. Rejects where there is none. */
  async follow(owner: string, conversationId: string): Promise<FollowedConversation> {
    const followed = this.#hub.kept(conversationId) ?? (await this.#open(owner, conversationId));
    // A conversation has one owner: to all others it is unknown.
    if (followed.owner !== owner) throw new ParleyError("conversation_not_found");
    await this.catchUp(conversationId);
    return followed;
  }

  /** Returns true if something below a seq has not been published here. */
  isBehind(conversationId: string, seq: number): boolean {
    const followed = this.#hub.kept(conversationId);
    if (followed === undefined) return false;
    return followed.turn !== undefined || followed.looking !== undefined || followed.seq !== seq - 1;
  }

  /** Publishes everything below the first seq of a turn that runs on this node and has published nothing. */
  async catchUpTo(conversationId: string, firstSeq: number): Promise<void> {
    const followed = this.#hub.kept(conversationId);
    if (followed === undefined) return;
    // A look under way sees that the turn runs here, and leaves the rest to this.
    await followed.looking?.catch(() => {});
    try {
      if (followed.turn === undefined && followed.seq >= firstSeq) throw new LogReplaced();
      await this.#publishEnded(this.#root.forOwner(followed.owner), conversationId, followed, firstSeq);
    } catch (error) {
      if (!(error instanceof LogReplaced)) throw error;
      this.#hub.end(conversationId, error);
    }
    this.published(conversationId, { seq: firstSeq - 1, check: undefined });
  }

  /** Notes that everything up to a place has been published, and that no turn is open there. */
  published(conversationId: string, { seq, check }: CommittedPlace): void {
    const followed = this.#hub.kept(conversationId);
    if (followed === undefined) return;
    if (check !== undefined && seq >= followed.seq) followed.check = check;
    followed.seq = Math.max(followed.seq, seq);
    followed.turn = undefined;
  }

  /**
   * Publishes rows that this node wrote outside a turn. Returns false, with nothing published, where rows before them
   * are still to be published, or these may have been: then a look finds out.
   */
  publishRows(conversationId: string, entries: readonly HistoryEntry[]): boolean {
    const followed = this.#hub.kept(conversationId);
    if (followed === undefined) return true;
    const last = entries.at(-1);
    if (last?.lastSeq === undefined || this.isBehind(conversationId, entries[0]?.firstSeq ?? 0)) return false;
    followed.seq = last.lastSeq;
    followed.check = checkOfLast(entries);
    this.#hub.publish(
      conversationId,
      chunksFrame(conversationId, chunksOf(entries), committedCursor(followed)),
    );
    return true;
  }

  /** Goes on with a turn that is open still, but runs on this node no more. */
  resume(turn: OpenTurn): void {
    const followed = this.#hub.kept(turn.conversationId);
    if (followed === undefined) return;
    followed.turn = turn;
    followed.seq = turn.committedSeq;
    followed.check = checkOfLast(turn.entries);
    void this.look(turn.conversationId);
  }

  /** Returns what is followed here with no turn under way, and the seq up to which each is published. */
  marks(): { id: string; owner: string; seq: number }[] {
    const marks: { id: string; owner: string; seq: number }[] = [];
    for (const [id, { owner, seq, turn }] of this.#hub.allKept()) {
      if (turn === undefined && !this.#runsHere(id)) marks.push({ id, owner, seq });
    }
    return marks;
  }

  /** Looks at every turn that runs elsewhere. */
  lookAtTurns(): void {
    for (const [conversationId, { turn }] of this.#hub.allKept()) {
      if (turn !== undefined) void this.look(conversationId);
    }
  }

  /** Publishes what is new; what goes wrong is reported, and left to the next look. */
  async look(conversationId: string): Promise<void> {
    const followed = this.#hub.kept(conversationId);
    // Each flush of the journal calls this for every turn that runs here: it has to be as cheap as it is frequent.
    if (followed === undefined || (followed.looking === undefined && this.#runsHere(conversationId))) return;
    await this.catchUp(conversationId).catch((error: unknown) => this.#failed(conversationId, error));
  }

  /**
   * Resolves when everything durable at the time of the call has been published. `state` is the open turn, where the
   * caller has read it and holds its lease, so that it need not be read again.
   */
  async catchUp(conversationId: string, state?: OpenTurnState): Promise<void> {
    const followed = this.#hub.kept(conversationId);
    if (followed === undefined) return;
    if (followed.looking === undefined)
      followed.looking = this.#lookUntilQuiet(conversationId, followed, state);
    else followed.again = true;
    await followed.looking;
  }

  async #lookUntilQuiet(
    conversationId: string,
    followed: FollowedConversation,
    state: OpenTurnState | undefined,
  ): Promise<void> {
    // It is marked before anything here can end, and unmarked in the same breath as the last question.
    await Promise.resolve();
    let known = state;
    try {
      do {
        followed.again = false;
        if (this.#runsHere(conversationId)) return;
        await this.#lookOnce(conversationId, followed, known);
        known = undefined;
      } while (followed.again && this.#hub.kept(conversationId) === followed);
    } finally {
      followed.looking = undefined;
    }
  }

  #failed(conversationId: string, error: unknown): void {
    if (isParleyError(error) && error.code === "conversation_not_found") {
      this.#hub.end(
        conversationId,
        new ParleyError("conversation_not_found", "The conversation was deleted"),
      );
    } else if (error instanceof LogReplaced) this.#hub.end(conversationId, error);
    else this.#report(error, "follow", conversationId);
  }

  async #open(owner: string, conversationId: string): Promise<FollowedConversation> {
    const store = this.#root.forOwner(owner);
    const record = await store.get(conversationId);
    if (record === null) throw new ParleyError("conversation_not_found");
    const state =
      record.active?.purpose === "turn" && !this.#runsHere(conversationId)
        ? await store.readOpenTurn({ conversationId })
        : null;
    const known = this.#hub.kept(conversationId);
    if (known !== undefined) return known;
    const turn = state === null ? undefined : OpenTurn.stored(owner, conversationId, state);
    // All of this is part of the join point.
    if (state !== null) turn?.update(state, () => {});
    const seq = turn?.committedSeq ?? record.lastSeq;
    const check = checkOfLast(state?.entries ?? []);
    const followed = { owner, seq, check, turn, looking: undefined, again: false };
    // Not kept if the one who asked has left meanwhile.
    this.#hub.keep(conversationId, followed);
    return followed;
  }

  async #lookOnce(
    conversationId: string,
    followed: FollowedConversation,
    known: OpenTurnState | undefined,
  ): Promise<void> {
    const store = this.#root.forOwner(followed.owner);
    const state = known ?? (await this.#read(store, conversationId, followed));
    if (state === "quiet" || this.#runsHere(conversationId) || this.#hub.kept(conversationId) !== followed) {
      return;
    }
    if (state?.node === "") this.#leases.orphaned();
    const { turn } = followed;
    if (state !== null && turn?.turnId === state.turnId) {
      turn.update(state, this.#publisher(conversationId));
      followed.seq = turn.committedSeq;
      followed.check = checkOfLast(state.entries);
      return;
    }
    const hasEnded = await this.#publishEnded(store, conversationId, followed, state?.entries[0]?.firstSeq);
    if (this.#runsHere(conversationId) || this.#hub.kept(conversationId) !== followed) return;
    if (state === null) {
      if (hasEnded) await this.#publishStatus(store, conversationId, followed);
      return;
    }
    const next = OpenTurn.stored(followed.owner, conversationId, state);
    followed.check = checkOfLast(state.entries);
    this.#hub.publish(conversationId, statusFrame(conversationId, "active", followed));
    next.update(state, this.#publisher(conversationId));
    followed.turn = next;
    followed.seq = next.committedSeq;
  }

  /** Reads the open turn; null where there is none. Most looks find nothing, which a cheaper read shows. */
  async #read(
    store: LogStore,
    conversationId: string,
    { turn, seq }: FollowedConversation,
  ): Promise<OpenTurnState | null | "quiet"> {
    if (turn === undefined && (await this.#isQuiet(store, conversationId, seq))) return "quiet";
    const since = turn === undefined ? {} : { afterN: turn.lastN, fence: turn.epoch };
    return store.readOpenTurn({ conversationId, ...since });
  }

  async #isQuiet(store: LogStore, conversationId: string, seq: number): Promise<boolean> {
    const record = await store.get(conversationId);
    if (record === null) throw new ParleyError("conversation_not_found");
    if (record.lastSeq < seq) throw new LogReplaced();
    return record.active?.purpose !== "turn" && record.lastSeq === seq;
  }

  /**
   * Publishes what is final and has not been published, below `beforeSeq`: the rest of the turn that was followed,
   * whole turns that nobody here has seen, and rows outside turns. Returns true if a turn was among it.
   */
  async #publishEnded(
    store: LogStore,
    conversationId: string,
    followed: FollowedConversation,
    beforeSeq = Number.MAX_SAFE_INTEGER,
  ): Promise<boolean> {
    let hasEnded = false;
    const { turn, owner } = followed;
    if (turn !== undefined) {
      hasEnded = await this.#publishEnd(store, followed, turn);
      if (!hasEnded) return false;
    }
    while (followed.seq + 1 < beforeSeq) {
      const chunks = await this.#readOn(store, conversationId, followed, beforeSeq);
      const [first] = chunks;
      if (first === undefined) break;
      if (first.turnId === undefined) {
        const others = chunks.findIndex((chunk) => chunk.turnId !== undefined);
        const rows = others === -1 ? chunks : chunks.slice(0, others);
        followed.seq = rows.at(-1)?.seq ?? followed.seq;
        followed.check = checkOfChunk(rows.at(-1));
        this.#hub.publish(conversationId, chunksFrame(conversationId, rows, committedCursor(followed)));
        continue;
      }
      const { turnId } = first;
      const beforeTurn = followed.seq;
      const ids = { owner, conversationId, turnId };
      const unseen = new OpenTurn({ ...ids, epoch: 0, startedAt: 0, beforeSeq: beforeTurn });
      if (!(await this.#publishEnd(store, followed, unseen))) break;
      hasEnded = true;
    }
    return hasEnded;
  }

  /** Reads the next page of rows. Rejects where the row that was published last is no longer there. */
  async #readOn(
    store: LogStore,
    conversationId: string,
    followed: FollowedConversation,
    end: number,
  ): Promise<readonly StoredChunk[]> {
    const { seq, check } = followed;
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

  /** Publishes how a turn ended; of one that nobody here has seen, also that it began. False if it has not ended. */
  async #publishEnd(store: LogStore, followed: FollowedConversation, turn: OpenTurn): Promise<boolean> {
    const { conversationId } = turn;
    const found = await store.readTurn(conversationId, turn.turnId);
    // The next read shows whether the conversation is still there.
    if (found === null)
      throw (await store.get(conversationId)) === null
        ? new ParleyError("conversation_not_found")
        : new LogReplaced();
    if (found.turn.status !== "sealed") return false;
    const isUnseen = followed.turn !== turn;
    followed.check = checkOfLast(found.entries);
    if (isUnseen) this.#hub.publish(conversationId, statusFrame(conversationId, "active", followed));
    turn.end(found, this.#publisher(conversationId));
    followed.turn = undefined;
    followed.seq = Math.max(followed.seq, found.turn.lastSeq);
    return true;
  }

  async #publishStatus(
    store: LogStore,
    conversationId: string,
    followed: FollowedConversation,
  ): Promise<void> {
    const record = await store.get(conversationId);
    if (record === null || record.status === "active" || this.#runsHere(conversationId)) return;
    this.#hub.publish(conversationId, statusFrame(conversationId, record.status, followed));
  }

  #runsHere(conversationId: string): boolean {
    return this.#running.active(conversationId) !== undefined;
  }

  #publisher(conversationId: string): Publish {
    return (frame, readers) => this.#hub.publish(conversationId, frame, readers);
  }
}

/**
 * The log no longer holds what was published here: it was restored to an earlier state under this node. Subscribers come
 * back by cursor, and the check in it makes them start over.
 */
class LogReplaced extends ParleyError {
  constructor() {
    super(
      "store_unavailable",
      "The log was restored to an earlier state; subscribe again with the newest cursor",
    );
  }
}
