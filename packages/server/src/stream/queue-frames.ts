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
  let sent: string | undefined;
  let early: SseQueueChanged | undefined;
  const send = (change: SseQueueChanged) => {
    const queue = JSON.stringify(change.queue);
    if (queue === sent) return;
    sent = queue;
    write(change);
  };
  const stop = await me.watch((event) => {
    if (event.type !== "queue.changed" || event.conversationId !== conversationId) return;
    if (sent === undefined) early = event;
    else send(event);
  });
  return {
    onFrame(frame) {
      write(frame);
      if (frame.type !== "chat.snapshot") return;
      sent = JSON.stringify(frame.queue);
      if (early !== undefined) send(early);
      early = undefined;
    },
    stop,
  };
}
