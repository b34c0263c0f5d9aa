import type { WsChatChunks, WsChatDelta, WsChatReset, WsChatSnapshot } from "./socket-server-message.js";

/**
 * The server-sent events of `GET /conversations/:id/events`: by event name, what `data` holds. The payloads
 * are the socket's, byte for byte. `id` is the cursor, so a browser resumes by itself; comments in between
 * keep the connection alive.
 */
export interface SseEvents {
  readonly snapshot: WsChatSnapshot;
  readonly chunks: WsChatChunks;
  readonly reset: WsChatReset;
  readonly delta: WsChatDelta;
}

/** The names of the server-sent events. */
export type SseEventName = keyof SseEvents;

/** What the `data` of any server-sent event holds. */
export type SseMessage = SseEvents[SseEventName];
