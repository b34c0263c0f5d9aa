import type { ParleyError } from "@parley/core";
import type { OwnerRuntime, SubscriptionFrame } from "@parley/core/runtime";

/** Where a subscription's frames go, and what is told when one ends by itself. */
interface Listener {
  readonly onFrame: (frame: SubscriptionFrame) => void;
  onEnd(conversationId: string, error: ParleyError | undefined): void;
}

/** Follows conversations for one socket. Leaving one never touches its turn. */
export class ChatSubscriptions {
  readonly #me: OwnerRuntime;
  readonly #listener: Listener;
  readonly #leave = new Map<string, () => void>();
  #isClosed = false;

  constructor(me: OwnerRuntime, listener: Listener) {
    this.#me = me;
    this.#listener = listener;
  }

  get size(): number {
    return this.#leave.size;
  }

  has(conversationId: string): boolean {
    return this.#leave.has(conversationId);
  }

  /** Follows from the cursor on, or anew. `onEnd` may take over what is told when it ends by itself. */
  join(
    conversationId: string,
    cursor: string | undefined,
    onEnd: (error: ParleyError | undefined) => void = (error) => this.#listener.onEnd(conversationId, error),
  ): void {
    // What was asked for before the socket closed may come to its end behind that.
    if (this.#isClosed) return;
    this.leave(conversationId);
    let isOver = false;
    const leave = this.#me.attach(conversationId, cursor, {
      onFrame: this.#listener.onFrame,
      onEnd: (error) => {
        isOver = true;
        if (this.#leave.get(conversationId) === leave) this.#leave.delete(conversationId);
        onEnd(error);
      },
    });
    if (!isOver) this.#leave.set(conversationId, leave);
  }

  leave(conversationId: string): void {
    this.#leave.get(conversationId)?.();
    this.#leave.delete(conversationId);
  }

  /** Leaves all of them, and follows nothing any more. */
  close(): void {
    this.#isClosed = true;
    for (const leave of this.#leave.values()) leave();
    this.#leave.clear();
  }
}
