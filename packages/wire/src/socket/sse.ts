import type { QueuePayload } from "../queue.js";
import type { WsChatChunks, WsChatDelta, WsChatReset, WsChatSnapshot } from "./socket-server-message.js";

/** The whole queue of a followed conversation, after a change. On the socket this is a surface. */
export interface SseQueueChanged {
  readonly type: "queue.changed";
  readonly conversationId: string;
  readonly queue: QueuePayload;
}

/**
 * The server-sent events of `GET /conversations/:id/events`: the type of `data` by event name. Except for the
 * queue, the payloads are the socket's, byte for byte. `id` is the cursor, so a browser resumes by itself;
 * comments in between keep the connection alive. Changes of the queue are sent to clients that present a
 * cursor, after the snapshot.
 */
export interface SseEvents {
  readonly snapshot: WsChatSnapshot;
  readonly chunks: WsChatChunks;
  readonly reset: WsChatReset;
  readonly delta: WsChatDelta;
  readonly queue: SseQueueChanged;
}

/** The names of the server-sent events. */
export type SseEventName = keyof SseEvents;

/** The `data` of any server-sent event. */
export type SseMessage = SseEvents[SseEventName];
