import { checkOfChunk, isCheckedRow, type RowCheck, type SubscriptionFrame } from "@parley/fold";
import type { StoredChunk } from "@parley/wire";
import { isParleyError, ParleyError } from "../../errors.js";
import type { LogStore, LogStoreRoot, OpenTurnState } from "../../log-store.js";
import type { Environment } from "../environment.js";
import type { LeaseEvents } from "../nodes/lease-events.js";
import type { RunningTurns } from "../turns/running-turns.js";
import { checkOfLast } from "./cursor.js";
import { chunksFrame, committedCursor, statusFrame } from "./frames.js";
import type { Hub } from "./hub.js";
import type { OpenTurnView } from "./live-turn.js";
import { RemoteTurn } from "./remote-turn.js";

/** How many chunks are read at once when a follower has fallen behind. */
const pageSize = 500;

/** A conversation that someone here follows, and what has been published of it. */
export interface FollowedConversation {
  readonly owner: string;
  /** Everything up to this seq has been published here. */
  seq: number;
  /** The row that was published last, as far as it is known. */
  check: RowCheck | undefined;
  /** The turn that was open at the last look. */
  turn: RemoteTurn | undefined;
  /** One look at a time, and another one after it for whoever asked meanwhile. */
  looking: Promise<void> | undefined;
  again: boolean;
}

/**
 * Follows conversations whose turns run on other nodes, for the subscribers of this one.
 *
 * A followed is kept per conversation that someone here follows. Each look reads what is durable and publishes what
 * is new since the last one: the end of the turn that was followed, turns that came and went meanwhile, rows
 * outside turns, and the turn that is open now. A wake-up only makes a look come sooner.
 *
 * While a turn runs on this node the followed rests. Three words pass between them: `handOver` before the turn tells
 * anything, so that everything before it is told first; `settled` when it is over; `givenUp` when it is open still
 * and may go on elsewhere.
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

  /** The open turn of a followed conversation as of now, and the seq it stands on. Rejects where there is none. */
  async view(
    owner: string,
    conversationId: string,
  ): Promise<{ seq: number; turn: OpenTurnView | undefined }> {
    const followed = this.#hub.kept(conversationId) ?? (await this.#open(owner, conversationId));
    // A conversation has one owner: to all others it is unknown.
    if (followed.owner !== owner) throw new ParleyError("conversation_not_found");
    await this.catchUp(conversationId);
    return { seq: followed.seq, turn: followed.turn };
  }

  /** Whether subscribers have not heard everything below a seq. */
  isBehind(conversationId: string, seq: number): boolean {
    const followed = this.#hub.kept(conversationId);
    if (followed === undefined) return false;
    return followed.turn !== undefined || followed.looking !== undefined || followed.seq !== seq - 1;
  }

  /** Before a turn of this node tells anything: everything below its first seq is published. */
  async handOver(conversationId: string, firstSeq: number): Promise<void> {
    const followed = this.#hub.kept(conversationId);
    if (followed === undefined) return;
    // A look under way sees that the turn runs here, and leaves the rest to this.
    await followed.looking?.catch(() => {});
    try {
      if (followed.turn === undefined && followed.seq >= firstSeq) throw new LogReplaced();
      await this.#tellEnded(this.#root.forOwner(followed.owner), conversationId, followed, firstSeq);
    } catch (error) {
      if (!(error instanceof LogReplaced)) throw error;
      this.#hub.end(conversationId, error);
    }
    this.settled(conversationId, firstSeq - 1, undefined);
  }

  /** A turn of this node is over, or has begun: the followed goes on from there. */
  settled(conversationId: string, seq: number, check: RowCheck | undefined): void {
    const followed = this.#hub.kept(conversationId);
    if (followed === undefined) return;
    if (check !== undefined && seq >= followed.seq) followed.check = check;
    followed.seq = Math.max(followed.seq, seq);
    followed.turn = undefined;
  }

  /** A turn of this node is open still, but runs here no more. `isLost`: more may have been told than will last. */
  givenUp(view: OpenTurnView, isLost: boolean): void {
    const followed = this.#hub.kept(view.conversationId);
    if (followed === undefined) return;
    followed.turn = RemoteTurn.after(view, isLost);
    followed.seq = followed.turn.committedSeq;
    followed.check = checkOfLast(view.entries);
    void this.look(view.conversationId);
  }

  /** What is followed here with no turn under way, and the seq up to which each is told. */
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
    // Each flush of the journal says so of every turn that runs here: to be as cheap as it is frequent.
    if (followed === undefined || (followed.looking === undefined && this.#runsHere(conversationId))) return;
    await this.catchUp(conversationId).catch((error: unknown) => this.#failed(conversationId, error));
  }

  /** Resolves when everything durable at the time of the call has been published. */
  async catchUp(conversationId: string): Promise<void> {
    const followed = this.#hub.kept(conversationId);
    if (followed === undefined) return;
    if (followed.looking === undefined) followed.looking = this.#lookUntilQuiet(conversationId, followed);
    else followed.again = true;
    await followed.looking;
  }

  async #lookUntilQuiet(conversationId: string, followed: FollowedConversation): Promise<void> {
    // The followed is marked before anything here can end, and unmarked in the same breath as the last question.
    await Promise.resolve();
    try {
      do {
        followed.again = false;
        if (this.#runsHere(conversationId)) return;
        await this.#lookOnce(conversationId, followed);
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
    const turn = state === null ? undefined : openedTurn(conversationId, state);
    // Whoever joins is told all of this at once.
    if (state !== null) turn?.update(state);
    const seq = turn?.committedSeq ?? record.lastSeq;
    const check = checkOfLast(state?.entries ?? []);
    const followed: FollowedConversation = { owner, seq, check, turn, looking: undefined, again: false };
    // Not kept if the one who asked has left meanwhile.
    this.#hub.keep(conversationId, followed);
    return followed;
  }

  async #lookOnce(conversationId: string, followed: FollowedConversation): Promise<void> {
    const store = this.#root.forOwner(followed.owner);
    const { turn } = followed;
    // Most looks find nothing: one question tells.
    if (turn === undefined && (await this.#isQuiet(store, conversationId, followed.seq))) return;
    const state = await store.readOpenTurn({
      conversationId,
      ...(turn === undefined ? {} : { afterN: turn.lastN, fence: turn.epoch }),
    });
    if (this.#runsHere(conversationId) || this.#hub.kept(conversationId) !== followed) return;
    if (state?.node === "") this.#leases.orphaned();
    if (state !== null && turn?.turnId === state.turnId) {
      this.#publish(conversationId, turn.update(state));
      followed.seq = turn.committedSeq;
      followed.check = checkOfLast(state.entries);
      return;
    }
    const hasEnded = await this.#tellEnded(store, conversationId, followed, state?.entries[0]?.firstSeq);
    if (this.#runsHere(conversationId) || this.#hub.kept(conversationId) !== followed) return;
    if (state === null) {
      if (hasEnded) await this.#tellStatus(store, conversationId, followed);
      return;
    }
    const next = openedTurn(conversationId, state);
    followed.check = checkOfLast(state.entries);
    this.#publish(conversationId, [statusFrame(conversationId, "active", followed), ...next.update(state)]);
    followed.turn = next;
    followed.seq = next.committedSeq;
  }

  async #isQuiet(store: LogStore, conversationId: string, seq: number): Promise<boolean> {
    const record = await store.get(conversationId);
    if (record === null) throw new ParleyError("conversation_not_found");
    if (record.lastSeq < seq) throw new LogReplaced();
    return record.active?.purpose !== "turn" && record.lastSeq === seq;
  }

  /**
   * Tells what is final behind the followed's seq, below `beforeSeq`: the rest of the turn that was followed, whole
   * turns that nobody here has seen, and rows outside turns. Returns whether a turn was among it.
   */
  async #tellEnded(
    store: LogStore,
    conversationId: string,
    followed: FollowedConversation,
    beforeSeq = Number.MAX_SAFE_INTEGER,
  ): Promise<boolean> {
    let hasEnded = false;
    const { turn } = followed;
    if (turn !== undefined) {
      hasEnded = await this.#tellTurn(store, followed, turn);
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
        this.#publish(conversationId, [chunksFrame(conversationId, rows, committedCursor(followed))]);
        continue;
      }
      const { turnId } = first;
      const unseen = new RemoteTurn({
        conversationId,
        turnId,
        epoch: 0,
        startedAt: 0,
        beforeSeq: followed.seq,
      });
      if (!(await this.#tellTurn(store, followed, unseen))) break;
      hasEnded = true;
    }
    return hasEnded;
  }

  /** Reads the next page behind the followed's seq. Rejects where the row that was published last is no longer there. */
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

  /** Tells how a turn ended; of one that nobody here has seen, also that it began. False when it has not ended. */
  async #tellTurn(store: LogStore, followed: FollowedConversation, turn: RemoteTurn): Promise<boolean> {
    const { conversationId } = turn;
    const found = await store.readTurn(conversationId, turn.turnId);
    // The conversation is there still, or it is gone: the next question tells.
    if (found === null)
      throw (await store.get(conversationId)) === null
        ? new ParleyError("conversation_not_found")
        : new LogReplaced();
    if (found.turn.status !== "sealed") return false;
    const isUnseen = followed.turn !== turn;
    followed.check = checkOfLast(found.entries);
    const opening = isUnseen ? [statusFrame(conversationId, "active", followed)] : [];
    this.#publish(conversationId, [...opening, ...turn.end(found)]);
    followed.turn = undefined;
    followed.seq = Math.max(followed.seq, found.turn.lastSeq);
    return true;
  }

  async #tellStatus(store: LogStore, conversationId: string, followed: FollowedConversation): Promise<void> {
    const record = await store.get(conversationId);
    if (record === null || record.status === "active" || this.#runsHere(conversationId)) return;
    this.#publish(conversationId, [statusFrame(conversationId, record.status, followed)]);
  }

  #runsHere(conversationId: string): boolean {
    return this.#running.active(conversationId) !== undefined;
  }

  #publish(conversationId: string, frames: readonly SubscriptionFrame[]): void {
    for (const frame of frames) this.#hub.publish(conversationId, frame);
  }
}

function openedTurn(conversationId: string, state: OpenTurnState): RemoteTurn {
  const { turnId, fence: epoch, startedAt, choices } = state;
  const beforeSeq = (state.entries[0]?.firstSeq ?? 1) - 1;
  return new RemoteTurn({ conversationId, turnId, epoch, startedAt, model: choices.model, beforeSeq });
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
