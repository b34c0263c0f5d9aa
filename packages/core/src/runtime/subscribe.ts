import type { CursoredEvent } from "@parley/wire";
import { ParleyError, toParleyError } from "../errors.js";
import type { ConversationRecord } from "../log-store.js";
import { Channel } from "../messages/channel.js";
import type { Coordinator } from "./coordinator.js";
import { type CursorPlace, formatCursor, parseCursor } from "./cursor.js";
import type { Environment } from "./environment.js";
import type { Follower } from "./follower.js";
import type { JoinPoint, Subscriber, SubscriptionFrame } from "./hub.js";
import { joinFrames } from "./live-turn.js";
import { closingEvents, replayTurn } from "./replay.js";
import { toMeta, toQueuePayload } from "./watchers.js";

/** Following a conversation: frames in order, until it is closed or falls too far behind. */
export interface Subscription extends AsyncIterable<SubscriptionFrame> {
  /** Leaves. The turn goes on. */
  close(): void;
}

/** How subscribers come in and what they are told first. */
export class Subscriptions {
  readonly #env: Environment;
  readonly #coordinator: Coordinator;
  readonly #follower: Follower;

  constructor(env: Environment, coordinator: Coordinator, follower: Follower) {
    this.#env = env;
    this.#coordinator = coordinator;
    this.#follower = follower;
  }

  /**
   * Follows with a callback. Without a cursor the open turn, if there is one, is told from its first event, then
   * what comes; with one, everything after it. Returns a function that leaves.
   */
  attach(
    owner: string,
    conversationId: string,
    cursor: string | undefined,
    subscriber: Subscriber,
  ): () => void {
    const place = cursor === undefined ? undefined : parseCursor(cursor);
    return this.#env.hub.join(conversationId, subscriber, () =>
      this.#joinPoint(owner, conversationId, place),
    );
  }

  subscribe(owner: string, conversationId: string, cursor?: string): Subscription {
    const { subscriberFrames } = this.#env.limits;
    let pending = 0;
    let leave = () => {};
    const channel = new Channel<SubscriptionFrame>({ onLeave: () => leave() });
    leave = this.attach(owner, conversationId, cursor, {
      onFrame(frame) {
        pending += 1;
        channel.push(frame);
        if (pending <= subscriberFrames) return;
        leave();
        channel.fail(new ParleyError("limit_exceeded", "Too far behind: subscribe again by cursor"));
      },
      onEnd(error) {
        if (error === undefined) channel.end();
        else channel.fail(error);
      },
    });
    return {
      close() {
        leave();
        channel.end();
      },
      [Symbol.asyncIterator]: () => ({
        async next() {
          const result = await channel.next();
          pending -= 1;
          return result;
        },
        return: () => channel.return(),
      }),
    };
  }

  /** The events of one turn, from its first to `turn-sealed`: live if it is open, else told again from the log. */
  async *events(
    owner: string,
    conversationId: string,
    turnId: string,
  ): AsyncGenerator<CursoredEvent, void, undefined> {
    const store = this.#env.root.forOwner(owner);
    const subscription = this.subscribe(owner, conversationId);
    try {
      const known = await store.readTurn(conversationId, turnId);
      if (known === null)
        throw new ParleyError("conversation_not_found", "No such turn in this conversation");
      if (known.turn.status === "sealed") {
        const { reason = "interrupted", metrics, firstSeq, lastSeq, startedAt, choices } = known.turn;
        const { entries } = known;
        const steps = metrics?.steps ?? [];
        const told = replayTurn({ conversationId, turnId, model: choices.model, startedAt, entries, steps });
        const cursor = formatCursor(lastSeq);
        for (const event of told) yield { event, cursor };
        for (const event of closingEvents({ conversationId, turnId, reason, metrics }))
          yield { event, cursor };
        yield { event: { type: "turn-sealed", conversationId, turnId, firstSeq, lastSeq, reason }, cursor };
        return;
      }
      for await (const frame of subscription) {
        if (frame.type !== "chat.delta") continue;
        const { event, cursor } = frame;
        if (!("turnId" in event) || event.turnId !== turnId) continue;
        yield { event, cursor };
        if (event.type === "turn-sealed") return;
      }
    } finally {
      subscription.close();
    }
  }

  async #joinPoint(
    owner: string,
    conversationId: string,
    place: CursorPlace | undefined,
  ): Promise<JoinPoint> {
    const store = this.#env.root.forOwner(owner);
    const record = await store.get(conversationId);
    if (record === null) throw new ParleyError("conversation_not_found");
    const remote = await this.#follower.view(owner, conversationId);
    // From here to the next await nothing can be published: this is the cut that the subscriber joins at.
    const turn = this.#coordinator.active(conversationId) ?? remote.turn;
    const seq = turn?.committedSeq ?? remote.seq;
    const open = turn === undefined ? undefined : { turnId: turn.turnId, epoch: turn.epoch, n: turn.lastN };
    const joining = turn === undefined ? [] : joinFrames(turn, place);
    if (place === undefined) return { frames: joining, seq, open };
    const frames: SubscriptionFrame[] = [this.#snapshot(record, place, turn)];
    const chunks = await store.readChunks({
      conversationId,
      sinceSeq: place.seq,
      beforeSeq: seq + 1,
      open: true,
    });
    const ended =
      place.open !== undefined && place.open.turnId !== turn?.turnId ? place.open.turnId : undefined;
    if (ended !== undefined) frames.push({ type: "chat.reset", conversationId, turnId: ended });
    if (chunks.chunks.length > 0) {
      frames.push({
        type: "chat.chunks",
        conversationId,
        chunks: chunks.chunks,
        cursor: formatCursor(
          seq,
          open === undefined || turn === undefined ? undefined : { ...open, n: turn.committedN },
        ),
      });
    }
    if (ended !== undefined) frames.push(...(await this.#endOf(owner, conversationId, ended)));
    frames.push(...joining);
    return { frames, seq, open };
  }

  /** What a client has missed of a turn that was open when it left. */
  async #endOf(owner: string, conversationId: string, turnId: string): Promise<SubscriptionFrame[]> {
    const known = await this.#env.root.forOwner(owner).readTurn(conversationId, turnId);
    if (known?.turn.status !== "sealed") return [];
    const { reason = "interrupted", metrics, firstSeq, lastSeq } = known.turn;
    const cursor = formatCursor(lastSeq);
    return [
      ...closingEvents({ conversationId, turnId, reason, metrics }),
      { type: "turn-sealed" as const, conversationId, turnId, firstSeq, lastSeq, reason },
    ].map((event) => ({ type: "chat.delta", event, cursor }));
  }

  #snapshot(
    record: ConversationRecord,
    place: CursorPlace,
    turn:
      | { readonly turnId: string; readonly model?: string | undefined; readonly startedAt: number }
      | undefined,
  ): SubscriptionFrame {
    return {
      type: "chat.snapshot",
      conversationId: record.id,
      meta: { ...toMeta(record), ...(turn === undefined ? {} : { status: "active" }) },
      queue: toQueuePayload({ entries: record.queue, paused: record.queuePaused }),
      // The place the client came with: what follows moves it on, frame by frame.
      cursor: formatCursor(place.seq, place.open),
      ...(record.contextSize === undefined ? {} : { contextSize: record.contextSize }),
      ...this.#window(record),
      ...(turn === undefined
        ? {}
        : {
            activeTurn: {
              turnId: turn.turnId,
              startedAt: turn.startedAt,
              ...(turn.model === undefined ? {} : { model: turn.model }),
            },
          }),
    };
  }

  #window(record: ConversationRecord): { contextWindow?: number } {
    try {
      return { contextWindow: this.#env.models.resolve(record.model).contextWindow };
    } catch (error) {
      this.#env.hooks.onError?.(toParleyError(error), { where: "subscribe", conversationId: record.id });
      return {};
    }
  }
}
