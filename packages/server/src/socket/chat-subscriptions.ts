import type { ParleyError } from "@parley/core";
import type { OwnerRuntime, SubscriptionFrame } from "@parley/core/runtime";

/** Receiver of a subscription's frames and of its end. */
interface Listener {
  readonly onFrame: (frame: SubscriptionFrame) => void;
  onEnd(conversationId: string, error: ParleyError | undefined): void;
}

/** Follows conversations for one socket. Leaving one never affects its turn. */
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

  /** Follows from the cursor, or from the start. `onEnd` may replace the report of its end. */
  join(
    conversationId: string,
    cursor: string | undefined,
    onEnd: (error: ParleyError | undefined) => void = (error) => this.#listener.onEnd(conversationId, error),
  ): void {
    // A join that was requested before the socket closed may complete after it.
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

  /** Leaves all of them, and follows none from now on. */
  close(): void {
    this.#isClosed = true;
    for (const leave of this.#leave.values()) leave();
    this.#leave.clear();
  }
}
