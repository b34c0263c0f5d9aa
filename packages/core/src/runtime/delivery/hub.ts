import type { SubscriptionFrame } from "@parley/fold";
import { ParleyError, toParleyError } from "../../errors.js";
import { readCursor } from "./cursor.js";

/** A subscriber of a conversation. */
export interface Subscriber {
  /** Called in order, never concurrently. A throw ends the subscription, and nothing else. */
  onFrame(frame: SubscriptionFrame): void;
  /** Called once, when the subscription ends for a reason other than the subscriber leaving. */
  onEnd(error?: ParleyError): void;
}

/** The state that a subscription starts from. */
export interface JoinPoint {
  /** Frames that the subscriber is sent first. */
  readonly frames: readonly SubscriptionFrame[];
  /** Frames that were published before this seq was committed are covered by `frames`. */
  readonly seq: number;
  /** Within the open turn: events up to this number are covered. */
  readonly open?: { readonly turnId: string; readonly epoch: number; readonly n: number } | undefined;
  /** A turn that ended while the join point was read, and that `frames` hold whole. */
  readonly ended?: string | undefined;
}

/** A subscriber whose join point is being read. */
export interface Joining {
  /** Sends frames ahead of those of the join point, so that a long log need not be held as a whole. */
  send(frames: readonly SubscriptionFrame[]): void;
  /** True if it has left meanwhile, so that the rest is not needed. */
  readonly isOver: boolean;
}

/** The subscribers that a frame is for: all, or those that read events and take no rows. */
export type Readers = "all" | "events";

/** The subscribers of a conversation. Never changed: joining or leaving makes another list. */
export type Audience = readonly { deliver(frame: SubscriptionFrame): void }[];

/** Delivers a frame to all of them. */
export function deliver(audience: Audience, frame: SubscriptionFrame): void {
  // By index: with one subscriber, as usual, an iterator would cost more than the delivery.
  for (let index = 0; index < audience.length; index += 1) audience[index]?.deliver(frame);
}

/**
 * Fans frames out to the subscribers of each conversation.
 *
 * A subscriber joins in two steps, so that nothing is lost in between: it is registered first and collects what is
 * published from then on; then its join point is read, and of what it collected only the part that the join point
 * does not cover is sent. From there on it receives everything directly. Publishing is synchronous and never waits
 * for a subscriber.
 */
export class Hub<Kept = unknown> {
  /** By the number of the log. */
  readonly #channels = new Map<number, Channel<Kept>>();
  #closed: { readonly error: ParleyError | undefined } | undefined;
  readonly #maxPending: number;

  constructor(maxPending = 10_000) {
    this.#maxPending = maxPending;
  }

  /** Returns true while a conversation has subscribers. */
  occupied(log: number): boolean {
    return this.#channels.has(log);
  }

  /** Delivers a frame to the subscribers of a conversation. `events`: only to those that joined to read events. */
  publish(log: number, frame: SubscriptionFrame, readers: Readers = "all"): void {
    const members = this.#channels.get(log)?.members;
    if (members === undefined) return;
    deliver(readers === "all" ? members : members.filter(({ reads }) => reads === "events"), frame);
  }

  /**
   * Returns the subscribers of a conversation; undefined if there are none, so that no frame is made without a
   * subscriber.
   */
  audience(log: number): Audience | undefined {
    return this.#channels.get(log)?.members;
  }

  /** Keeps a value for a conversation as long as it has subscribers; without any, nothing is kept. */
  keep(log: number, value: Kept): void {
    const channel = this.#channels.get(log);
    if (channel !== undefined) channel.kept = value;
  }

  /** Returns the value that is kept for a conversation. */
  kept(log: number): Kept | undefined {
    return this.#channels.get(log)?.kept;
  }

  /** Returns all values that are kept, by conversation. */
  allKept(): [log: number, value: Kept][] {
    const all: [number, Kept][] = [];
    for (const [log, { kept }] of this.#channels) if (kept !== undefined) all.push([log, kept]);
    return all;
  }

  /** Adds a subscriber. `reads`: rows, or events alone. Returns a function that leaves. */
  join(
    log: number,
    subscriber: Subscriber,
    readJoinPoint: (joining: Joining) => Promise<JoinPoint>,
    reads: "rows" | "events" = "rows",
  ): () => void {
    const membership = new Membership(subscriber, this.#maxPending, reads);
    if (this.#closed !== undefined) {
      const { error } = this.#closed;
      queueMicrotask(() => membership.end(error));
      return () => membership.leave();
    }
    const channel = this.#channels.get(log);
    if (channel === undefined) this.#channels.set(log, { members: [membership], kept: undefined });
    else channel.members = [...channel.members, membership];
    const leave = () => {
      membership.leave();
      this.#remove(log, membership);
    };
    membership.onFailed = leave;
    readJoinPoint(membership).then(
      (point) => membership.begin(point),
      (error: unknown) => membership.fail(toParleyError(error)),
    );
    return leave;
  }

  #remove(log: number, membership: Membership): void {
    const channel = this.#channels.get(log);
    if (channel === undefined || !channel.members.includes(membership)) return;
    channel.members = channel.members.filter((each) => each !== membership);
    if (channel.members.length === 0) this.#channels.delete(log);
  }

  /**
   * Ends all subscriptions of a conversation that is gone, or of all when the hub closes: then no subscriber can join
   * any more.
   */
  end(log: number | undefined, error?: ParleyError): void {
    if (log === undefined) this.#closed = { error };
    const logs = log === undefined ? [...this.#channels.keys()] : [log];
    for (const each of logs) {
      const channel = this.#channels.get(each);
      if (channel === undefined) continue;
      this.#channels.delete(each);
      for (const membership of channel.members) membership.end(error);
    }
  }
}

/** The subscribers of a conversation, and what is kept for them. */
interface Channel<Kept> {
  /** Never changed: joining or leaving makes another list. */
  members: readonly Membership[];
  kept: Kept | undefined;
}

class Membership implements Joining {
  readonly #subscriber: Subscriber;
  readonly #maxPending: number;
  #collected: SubscriptionFrame[] | undefined = [];
  #left = false;
  /** Takes this membership out of its channel. */
  onFailed: (() => void) | undefined;

  constructor(
    subscriber: Subscriber,
    maxPending: number,
    readonly reads: "rows" | "events",
  ) {
    this.#subscriber = subscriber;
    this.#maxPending = maxPending;
  }

  deliver(frame: SubscriptionFrame): void {
    if (this.#collected === undefined) {
      this.#pass(frame);
      return;
    }
    this.#collected.push(frame);
    if (this.#collected.length > this.#maxPending) {
      this.fail(
        new ParleyError(
          "limit_exceeded",
          "The client reads too slowly: connect again with its cursor, or send the same message id",
        ),
      );
    }
  }

  get isOver(): boolean {
    return this.#left;
  }

  send(frames: readonly SubscriptionFrame[]): void {
    for (const frame of frames) this.#pass(frame);
  }

  begin(point: JoinPoint): void {
    const collected = this.#collected ?? [];
    this.#collected = undefined;
    this.send(point.frames);
    // Rows cover the events of a turn that began and ended since the subscriber joined; a subscriber that reads only
    // events has none.
    const whole = this.reads === "events" ? turnsBegunIn(collected) : undefined;
    for (const frame of collected) {
      const turnId = turnOf(frame);
      if (turnId !== undefined && turnId === point.ended) continue;
      const isWhole = turnId !== undefined && turnId !== point.open?.turnId && whole?.has(turnId);
      const rest = isWhole ? frame : notCovered(frame, point);
      if (rest !== undefined) this.#pass(rest);
    }
  }

  leave(): void {
    this.#left = true;
    this.#collected = undefined;
  }

  end(error: ParleyError | undefined): void {
    if (this.#left) return;
    this.leave();
    try {
      this.#subscriber.onEnd(error);
    } catch {
      // It has left; its own errors do not matter.
    }
  }

  fail(error: ParleyError): void {
    if (this.#left) return;
    this.end(error);
    this.onFailed?.();
  }

  /** Passes a frame on. One subscriber's error must not reach the turn or the other subscribers. */
  #pass(frame: SubscriptionFrame): void {
    if (this.#left) return;
    try {
      this.#subscriber.onFrame(frame);
    } catch (thrown) {
      this.fail(toParleyError(thrown));
    }
  }
}

/** Returns the turn that an event belongs to. */
function turnOf(frame: SubscriptionFrame): string | undefined {
  return frame.type === "chat.delta" && "turnId" in frame.event ? frame.event.turnId : undefined;
}

/** Returns the turns whose first events are among the frames. */
function turnsBegunIn(frames: readonly SubscriptionFrame[]): ReadonlySet<string> {
  const begun = new Set<string>();
  for (const frame of frames) {
    if (frame.type === "chat.delta" && frame.event.type === "turn-start") begun.add(frame.event.turnId);
  }
  return begun;
}

/** Returns the part of a frame that a join point does not cover. */
function notCovered(frame: SubscriptionFrame, point: JoinPoint): SubscriptionFrame | undefined {
  if (frame.type === "chat.reset" || frame.type === "chat.snapshot") return frame;
  if (frame.type === "chat.chunks") {
    const chunks = frame.chunks.filter((chunk) => chunk.seq > point.seq);
    return chunks.length === 0 ? undefined : { ...frame, chunks };
  }
  const place = readCursor(frame.cursor);
  if (place.seq < point.seq) return undefined;
  // These have no numbers of their own, and repeating them changes nothing.
  if (frame.event.type === "status" || frame.event.type === "turn-progress") return frame;
  if (place.open === undefined || point.open === undefined) return frame;
  if (place.open.turnId !== point.open.turnId) return frame;
  if (place.open.epoch !== point.open.epoch) return place.open.epoch < point.open.epoch ? undefined : frame;
  return place.open.n <= point.open.n ? undefined : frame;
}
