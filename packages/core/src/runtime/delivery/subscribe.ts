import {
  type CursorPlace,
  checkOfChunk,
  closingEvents,
  formatCursor,
  isCheckedRow,
  omitUndefined,
  type SubscriptionFrame,
} from "@parley/fold";
import type { AgentEvent, Cursor, CursoredEvent } from "@parley/wire";
import { ParleyError, toParleyError } from "../../errors.js";
import { Channel } from "../../messages/channel.js";
import type { ConversationRecord, TurnRecord } from "../../ports/log-store.js";
import type { HistoryEntry } from "../../ports.js";
import { turnOutput } from "../../turn/output/output.js";
import type { Defaults } from "../conversation-meta.js";
import { effectiveChoices, toMeta } from "../conversation-meta.js";
import type { Uses } from "../environment.js";
import type { RunningTurns } from "../turns/running-turns.js";
import { checkOfLast, readCursor } from "./cursor.js";
import { EventStream } from "./event-stream.js";
import type { Follower } from "./follower.js";
import { chunksFrame, committedCursor, eventFrame, resetFrame, sealedFrame } from "./frames.js";
import type { Joining, JoinPoint, Subscriber } from "./hub.js";
import { figuresAfter, isKnownPlace, restOfTurnFrames, wholeTurnFrames } from "./join-frames.js";
import type { OpenTurn } from "./open-turn.js";
import { messagesOf, replayRows } from "./replay.js";
import { toQueuePayload } from "./watchers.js";

/** The parts of the environment that subscriptions use. */
export type SubscriptionUses = Defaults & Uses<"hub" | "limits" | "ownerModels" | "root">;

/** Number of chunks of one frame. */
const chunksPerFrame = 500;

/** Subscription to a conversation: frames in order, until it is closed or falls too far behind. */
export interface Subscription extends AsyncIterable<SubscriptionFrame> {
  /** Leaves. The turn continues. */
  close(): void;
}

/** Follower of one turn. */
export interface TurnFollower {
  onEvent(event: AgentEvent, cursor: Cursor): void;
  /** Called when the turn was lost by its node: its durable part is sent again from its first event. */
  onReset(): void;
  /** Called once at the end: without an error if the turn is sealed or waits. */
  onEnd(error: ParleyError | undefined): void;
}

/** A conversation, and the log that its id names. */
interface FollowedIds {
  readonly owner: string;
  readonly conversationId: string;
  readonly log: number;
  /** The turn that started here after the subscriber arrived and before it joined. */
  readonly started: OpenTurn | undefined;
}

/** Lets subscribers join, and reads the first frames of each. */
export class Subscriptions {
  readonly #env: SubscriptionUses;
  readonly #running: Pick<RunningTurns, "active" | "activeOf" | "onAdded">;
  readonly #follower: Follower;

  constructor(
    env: SubscriptionUses,
    running: Pick<RunningTurns, "active" | "activeOf" | "onAdded">,
    follower: Follower,
  ) {
    this.#env = env;
    this.#running = running;
    this.#follower = follower;
  }

  /**
   * Follows with a callback. Without a cursor the open turn, if there is one, is sent from its first event, then new
   * events; with one, everything after it. A cursor whose rows are no longer in the log, because it was restored to
   * an earlier state or created again under its id, starts over: a reset of the whole conversation, then everything.
   * Returns a function that leaves.
   */
  attach(
    owner: string,
    conversationId: string,
    cursor: string | undefined,
    subscriber: Subscriber,
  ): () => void {
    const place = cursor === undefined ? undefined : readCursor(cursor);
    const ids = { owner, conversationId };
    if (place === undefined) {
      return this.#join(ids, subscriber, "events", (followed) => this.#joinWithout(followed));
    }
    return this.#join(ids, subscriber, "rows", (followed, joining) => this.#joinAt(followed, place, joining));
  }

  /**
   * Joins when the log of the id is known: immediately if a turn of it runs here, otherwise when the store has
   * answered. A turn that starts here meanwhile is part of the join point, even if it has ended by then. Returns a
   * function that leaves, or prevents the join.
   */
  #join(
    ids: { readonly owner: string; readonly conversationId: string },
    subscriber: Subscriber,
    reads: "rows" | "events",
    readJoinPoint: (followed: FollowedIds, joining: Joining) => Promise<JoinPoint>,
  ): () => void {
    const { owner, conversationId } = ids;
    let isDecided = false;
    let leave = () => {};
    let started: OpenTurn | undefined;
    const join = (log: number) => {
      if (isDecided) return;
      isDecided = true;
      const followed = { ...ids, log, started: started?.log === log ? started : undefined };
      leave = this.#env.hub.join(log, subscriber, (joining) => readJoinPoint(followed, joining), reads);
    };
    const running = this.#running.activeOf(owner, conversationId);
    if (running !== undefined) join(running.log);
    else {
      const stop = this.#running.onAdded((live) => {
        if (live.owner === owner && live.conversationId === conversationId) started ??= live;
      });
      this.#logOf(owner, conversationId)
        .then(join)
        .catch((error: unknown) => {
          if (isDecided) return;
          isDecided = true;
          subscriber.onEnd(toParleyError(error));
        })
        .finally(stop);
    }
    return () => {
      isDecided = true;
      leave();
    };
  }

  async #logOf(owner: string, conversationId: string): Promise<number> {
    const record = await this.#env.root.forOwner(owner).get(conversationId);
    if (record === null) throw new ParleyError("conversation_not_found");
    return record.log;
  }

  /** Refuses what following would refuse: an unknown conversation, a text that is not a cursor. */
  async check(owner: string, conversationId: string, cursor: string | undefined): Promise<void> {
    if (cursor !== undefined) readCursor(cursor);
    const record = await this.#env.root.forOwner(owner).get(conversationId);
    if (record === null) throw new ParleyError("conversation_not_found");
  }

  subscribe(owner: string, conversationId: string, cursor?: string): Subscription {
    const { channel, leave } = this.#reader<SubscriptionFrame>((subscriber) =>
      this.attach(owner, conversationId, cursor, subscriber),
    );
    return {
      close() {
        leave();
        channel.end();
      },
      [Symbol.asyncIterator]: () => channel,
    };
  }

  /**
   * Reads the events of one turn, from its first to `turn-sealed`, or to the status that reports that it waits: live
   * if it is open, otherwise replayed from the log.
   */
  events(owner: string, conversationId: string, turnId: string): AsyncIterableIterator<CursoredEvent> {
    const stream = new EventStream();
    const { channel } = this.#reader<CursoredEvent>((subscriber, push) =>
      this.followTurn(owner, conversationId, turnId, {
        onEvent(event, cursor) {
          const fresh = event.type === "status" ? event : stream.next(event);
          if (fresh !== undefined) push({ event: fresh, cursor });
        },
        onReset: () => stream.reset(),
        onEnd: subscriber.onEnd,
      }),
    );
    return channel;
  }

  /**
   * Follows one turn, from its first event to `turn-sealed`, or to the status that reports that it waits: live if it
   * is open, otherwise replayed from the log. Returns a function that leaves.
   */
  followTurn(owner: string, conversationId: string, turnId: string, follower: TurnFollower): () => void {
    let isOver = false;
    const leave = this.#join(
      { owner, conversationId },
      {
        onFrame(frame) {
          if (isOver) return;
          if (frame.type === "chat.reset") follower.onReset();
          if (frame.type !== "chat.delta") return;
          const { event, cursor } = frame;
          const isWaiting = event.type === "status" && event.waiting?.turnId === turnId;
          if (!isWaiting && (!("turnId" in event) || event.turnId !== turnId)) return;
          follower.onEvent(event, cursor);
          if (event.type !== "turn-sealed" && !isWaiting) return;
          isOver = true;
          leave();
          follower.onEnd(undefined);
        },
        onEnd(error) {
          if (!isOver) follower.onEnd(error);
          isOver = true;
        },
      },
      "events",
      (followed) => this.#joinTurn(followed, turnId),
    );
    return () => {
      isOver = true;
      leave();
    };
  }

  /** Buffers what is pushed, for a reader that may be slow within limits. */
  #reader<T>(join: (subscriber: Subscriber, push: (value: T) => void) => () => void): {
    channel: BoundedChannel<T>;
    leave: () => void;
  } {
    let leave = () => {};
    const channel = new BoundedChannel<T>(this.#env.limits.subscriberFrames, () => leave());
    const push = (value: T) => channel.add(value);
    const subscriber: Subscriber = {
      onFrame: (frame) => push(frame as T),
      onEnd(error) {
        if (error === undefined) channel.end();
        else channel.fail(error);
      },
    };
    leave = join(subscriber, push);
    return { channel, leave: () => leave() };
  }

  /**
   * Reads the point at which a subscriber joins: what runs, and everything before it. `take` reads the turn
   * synchronously, because it changes immediately afterwards.
   */
  async #cut<T>(
    ids: FollowedIds,
    take: (turn: OpenTurn | undefined) => T,
  ): Promise<{ taken: T; seq: number; open: JoinPoint["open"] }> {
    const followed = await this.#follower.follow(ids);
    const turn = this.#running.active(ids.log) ?? followed.turn;
    const seq = turn?.committedSeq ?? followed.seq;
    const open = turn === undefined ? undefined : { turnId: turn.turnId, epoch: turn.epoch, n: turn.lastN };
    return { taken: take(turn), seq, open };
  }

  async #joinWithout(ids: FollowedIds): Promise<JoinPoint> {
    const { owner, conversationId } = ids;
    const running = ids.started ?? this.#running.active(ids.log);
    const { taken, seq, open } = await this.#cut(ids, (turn) =>
      turn === undefined ? [] : wholeTurnFrames(turn),
    );
    const point: JoinPoint = { frames: taken, seq, open };
    if (running === undefined || running.turnId === open?.turnId) return point;
    // It ended while the cut was read: its events since then are only the last ones.
    const ended = await this.#sealedFrames(owner, conversationId, running.turnId);
    if (ended === undefined) return point;
    return { ...point, frames: [...ended, ...taken], ended: running.turnId };
  }

  async #joinTurn(ids: FollowedIds, turnId: string): Promise<JoinPoint> {
    const { owner, conversationId } = ids;
    const point = await this.#joinWithout(ids);
    if (point.open?.turnId === turnId || point.ended === turnId) return point;
    const found = await this.#env.root.forOwner(owner).readTurn(conversationId, turnId);
    if (found === null) throw new ParleyError("conversation_not_found", "No such turn in this conversation");
    // It began after the cut, so all of its events are still to come.
    if (found.turn.status !== "sealed") return { ...point, frames: [] };
    const frames = this.#sealedFramesOf(conversationId, found);
    return { ...point, frames, ended: turnId };
  }

  /** Replays a sealed turn, from its first event to `turn-sealed`. Undefined while it is open. */
  async #sealedFrames(
    owner: string,
    conversationId: string,
    turnId: string,
  ): Promise<SubscriptionFrame[] | undefined> {
    const found = await this.#env.root.forOwner(owner).readTurn(conversationId, turnId);
    return found?.turn.status === "sealed" ? this.#sealedFramesOf(conversationId, found) : undefined;
  }

  #sealedFramesOf(
    conversationId: string,
    { turn, entries }: { readonly turn: TurnRecord; readonly entries: readonly HistoryEntry[] },
  ): SubscriptionFrame[] {
    const { turnId, metrics, firstSeq, lastSeq, startedAt, choices, reason = "interrupted" } = turn;
    const model = metrics?.model ?? choices.model;
    const steps = metrics?.steps ?? [];
    const events = [
      ...replayRows({ conversationId, turnId, model, startedAt, entries, steps }, { isSealed: true }),
      ...closingEvents({ conversationId, turnId, reason, metrics }),
    ];
    const cursor = committedCursor({ seq: lastSeq, check: checkOfLast(entries) });
    const output = turnOutput(metrics?.output, messagesOf(entries));
    return [
      ...events.map((event) => eventFrame(event, cursor)),
      sealedFrame({ conversationId, turnId, firstSeq, lastSeq, reason, output }, cursor),
    ];
  }

  async #joinAt(ids: FollowedIds, given: CursorPlace, joining: Joining): Promise<JoinPoint> {
    const { owner, conversationId } = ids;
    const running = ids.started ?? this.#running.active(ids.log);
    const { record, holds } = await this.#verify(owner, conversationId, given);
    const place: CursorPlace = holds ? given : { seq: 0 };
    const { taken, seq, open } = await this.#cut(ids, (turn) => ({
      snapshot: this.#snapshot(owner, record, place, turn),
      figures: turn === undefined ? [] : figuresAfter(turn, place.seq),
      rest: turn === undefined ? [] : restOfTurnFrames(turn, place),
      isKnown: turn !== undefined && isKnownPlace(turn, place),
      committed: turn?.cursorAt(turn.committedN),
    }));
    const { isKnown } = taken;
    let here = taken.committed ?? formatCursor({ ...place, seq, open: undefined });
    const unmoved = formatCursor(isKnown ? place : { ...place, open: undefined });

    let frames: SubscriptionFrame[] = [taken.snapshot];
    if (!holds) frames.push(resetFrame(conversationId, undefined, unmoved));
    else if (place.open !== undefined && !isKnown) {
      frames.push(resetFrame(conversationId, place.open.turnId, unmoved));
    }
    for (const event of taken.figures) frames.push(eventFrame(event, unmoved));
    for (let since = place.seq; since < seq; since += chunksPerFrame) {
      // The content of one page is sent at once, as everything else that is known at the cut.
      if (since > place.seq) {
        joining.send(frames);
        frames = [];
      }
      if (joining.isOver) break;
      const end = Math.min(seq, since + chunksPerFrame);
      const { chunks } = await this.#env.root.forOwner(owner).readChunks({
        conversationId,
        sinceSeq: since,
        beforeSeq: end + 1,
        open: true,
      });
      // The client's state of the open turn stays as it is until all rows are there.
      const check = checkOfChunk(chunks.at(-1));
      const onTheWay = formatCursor({ seq: end, check, open: isKnown ? place.open : undefined });
      if (end === seq) here = taken.committed ?? onTheWay;
      const cursor = end === seq ? here : onTheWay;
      frames.push(chunksFrame(conversationId, chunks, cursor));
    }
    // One that ran when the subscriber came may have ended while the cut was read.
    const before = place.open?.turnId ?? running?.turnId;
    if (before !== undefined && before !== open?.turnId) {
      // Sent after all rows: its own last seq may be far before them, and a cursor does not go back.
      frames.push(...(await this.#endOf(owner, conversationId, before, here)));
    }
    return { frames: [...frames, ...taken.rest], seq, open };
  }

  /** Reads the conversation, and checks that a client at this place holds rows of the current log. */
  async #verify(
    owner: string,
    conversationId: string,
    { seq, check }: CursorPlace,
  ): Promise<{ record: ConversationRecord; holds: boolean }> {
    const store = this.#env.root.forOwner(owner);
    const record = await store.get(conversationId);
    if (record === null) throw new ParleyError("conversation_not_found");
    if (seq > record.lastSeq) return { record, holds: false };
    if (check === undefined || check.seq === 0) return { record, holds: true };
    const { chunks } = await store.readChunks({
      conversationId,
      sinceSeq: check.seq - 1,
      beforeSeq: check.seq + 1,
      open: true,
    });
    return { record, holds: isCheckedRow(chunks[0], check) };
  }

  /** Makes the frames of a turn's end, for a client that has seen only its start. */
  async #endOf(
    owner: string,
    conversationId: string,
    turnId: string,
    cursor: Cursor,
  ): Promise<SubscriptionFrame[]> {
    const known = await this.#env.root.forOwner(owner).readTurn(conversationId, turnId);
    if (known?.turn.status !== "sealed") return [];
    const { reason = "interrupted", metrics, firstSeq, lastSeq } = known.turn;
    const output = turnOutput(metrics?.output, messagesOf(known.entries));
    const closing = closingEvents({ conversationId, turnId, reason, metrics });
    return [
      ...closing.map((event) => eventFrame(event, cursor)),
      sealedFrame({ conversationId, turnId, firstSeq, lastSeq, reason, output }, cursor),
    ];
  }

  #snapshot(
    owner: string,
    record: ConversationRecord,
    place: CursorPlace,
    turn: OpenTurn | undefined,
  ): SubscriptionFrame {
    return {
      type: "chat.snapshot",
      conversationId: record.id,
      meta: { ...toMeta(this.#env, record), ...(turn === undefined ? {} : { status: "active" }) },
      queue: toQueuePayload({ entries: record.queue, paused: record.queuePaused }),
      // The place in the client's request: the next frames advance it one by one.
      cursor: formatCursor(place),
      ...omitUndefined({ contextSize: record.contextSize }),
      ...this.#window(owner, record),
      ...(turn === undefined
        ? {}
        : {
            activeTurn: {
              turnId: turn.turnId,
              startedAt: turn.startedAt,
              ...omitUndefined({ model: turn.model, progress: turn.progress }),
            },
          }),
    };
  }

  #window(owner: string, record: ConversationRecord): { contextWindow?: number } {
    const contextWindow = this.#env.ownerModels.windowOf(owner, effectiveChoices(this.#env, record).model);
    return contextWindow === undefined ? {} : { contextWindow };
  }
}

/**
 * A channel that fails for a reader that has fallen too far behind. Values that it already holds can still be read.
 */
class BoundedChannel<T> extends Channel<T> {
  readonly #most: number;
  readonly #leave: () => void;
  #pending = 0;

  constructor(most: number, leave: () => void) {
    super({ onLeave: leave });
    this.#most = most;
    this.#leave = leave;
  }

  add(value: T): void {
    this.#pending += 1;
    this.push(value);
    if (this.#pending <= this.#most) return;
    this.#leave();
    this.fail(
      new ParleyError(
        "limit_exceeded",
        "The client reads too slowly: connect again with its cursor, or send the same message id",
      ),
    );
  }

  override async next(): Promise<IteratorResult<T>> {
    const result = await super.next();
    this.#pending -= 1;
    return result;
  }
}
