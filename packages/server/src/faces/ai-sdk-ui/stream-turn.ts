import type { OwnerRuntime } from "@parley/core/runtime";
import type { QueuePayload } from "@parley/wire";
import type { ResponseStream } from "../../stream/response-stream.js";
import { PacedWriter } from "../paced-writer.js";
import type { ChunkFilter } from "./chunk-filters.js";
import { TurnProjection } from "./project-turn.js";
import { frameOf, queueType, type UiChunk } from "./ui-chunk.js";

const done = Buffer.from("data: [DONE]\n\n");

/**
 * Writes one turn as one message: the existing part of it, then the live events. The stream ends normally only if the
 * message is complete or waits for input. In every other case the connection is broken off, because a client treats a
 * normal end as the end of the answer: also when the turn has moved to another node, which may have lost text that was
 * shown.
 */
export function streamTurn(
  me: OwnerRuntime,
  turn: { readonly conversationId: string; readonly turnId: string },
  stream: ResponseStream,
  filters: readonly ChunkFilter[],
): void {
  const projection = new TurnProjection(turn.turnId);
  const writer = new PacedWriter(stream);
  const leave = me.followTurn(turn.conversationId, turn.turnId, {
    onEvent(event) {
      for (const chunk of projection.next(event)) {
        const passed = passThrough(filters, chunk);
        if (passed !== undefined) writer.write(frameOf(passed));
      }
    },
    onReset: () => stream.cut(),
    onEnd(error) {
      if (error === undefined) writer.end(done);
      else stream.cut();
    },
  });
  void stream.over.then(leave);
}

function passThrough(filters: readonly ChunkFilter[], chunk: UiChunk): UiChunk | undefined {
  let passed: UiChunk | undefined = chunk;
  for (const filter of filters) {
    passed = filter(passed);
    if (passed === undefined) return undefined;
  }
  return passed;
}

/** Reports the queue of a conversation while a stream is open, in a part that is not kept. */
export async function reportQueue(
  me: OwnerRuntime,
  conversationId: string,
  stream: ResponseStream,
): Promise<void> {
  const stop = await me.watch((event) => {
    if (event.type === "queue.changed" && event.conversationId === conversationId) {
      stream.write(queueFrame(event.queue));
    }
  });
  void stream.over.then(stop);
}

/** Returns the queue as a frame. */
export function queueFrame(queue: QueuePayload): Buffer {
  return frameOf({ type: queueType, data: queue, transient: true });
}

/**
 * Resolves with the turn that delivers a message from the queue: its own, or the running one that it joins. Resolves
 * with undefined when the message was removed from the queue.
 */
export async function whenDelivered(
  me: OwnerRuntime,
  conversationId: string,
  messageId: string,
  over: Promise<unknown>,
): Promise<string | undefined> {
  let settle: (turnId: string | undefined) => void = () => {};
  const delivered = new Promise<string | undefined>((resolve) => {
    settle = resolve;
  });
  const look = async (mayWait: boolean) => {
    const turnId = await me.turnOf(conversationId, messageId);
    if (turnId !== undefined || !mayWait) settle(turnId);
  };
  const stop = await me.watch((event) => {
    if (event.type !== "queue.changed" || event.conversationId !== conversationId) return;
    const waits = event.queue.messages.some((queued) => queued.id === messageId);
    if (!waits) void look(false).catch(() => settle(undefined));
  });
  void over.then(() => settle(undefined));
  try {
    // It may have been delivered before this subscription.
    const { messages } = await me.queue.list(conversationId);
    if (!messages.some((queued) => queued.id === messageId)) await look(false);
    return await delivered;
  } finally {
    stop();
  }
}
