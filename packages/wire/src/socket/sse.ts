import type { QueuePayload } from "../queue.js";
import type { WsChatChunks, WsChatDelta, WsChatReset, WsChatSnapshot } from "./socket-server-message.js";

/** The queue of a followed conversation has changed: all of it. On the socket this is a surface. */
export interface SseQueueChanged {
  readonly type: "queue.changed";
  readonly conversationId: string;
  readonly queue: QueuePayload;
}

/**
 * The server-sent events of `GET /conversations/:id/events`: by event name, what `data` holds. Except for the queue, the
 * payloads are the socket's, byte for byte. `id` is the cursor, so a browser resumes by itself; comments in between keep
 * the connection alive. Changes of the queue come to whoever names a cursor, behind the snapshot.
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

/** What the `data` of any server-sent event holds. */
export type SseMessage = SseEvents[SseEventName];
