import type { OwnerRuntime } from "@parley/core/runtime";
import type { SseMessage, SseQueueChanged } from "@parley/wire";

/** The frames of a followed conversation with the changes of its queue between them. */
export interface QueueFrames {
  /** Writes a frame of the subscription. */
  onFrame(frame: SseMessage): void;
  stop(): void;
}

/**
 * Adds the changes of its queue to the frames of a conversation. They come after the snapshot, which has the queue as
 * it was: a change received before it is at least as new, or is published again.
 */
export async function queueFrames(
  me: OwnerRuntime,
  conversationId: string,
  write: (frame: SseMessage) => void,
): Promise<QueueFrames> {
  /** The queue as the reader has it. Undefined until the snapshot. */
  let told: string | undefined;
  let early: SseQueueChanged | undefined;
  const tell = (change: SseQueueChanged) => {
    const queue = JSON.stringify(change.queue);
    if (queue === told) return;
    told = queue;
    write(change);
  };
  const stop = await me.watch((event) => {
    if (event.type !== "queue.changed" || event.conversationId !== conversationId) return;
    if (told === undefined) early = event;
    else tell(event);
  });
  return {
    onFrame(frame) {
      write(frame);
      if (frame.type !== "chat.snapshot") return;
      told = JSON.stringify(frame.queue);
      if (early !== undefined) tell(early);
      early = undefined;
    },
    stop,
  };
}
