import type { AgentEvent } from "./agent-event.js";

/**
 * A place in a conversation's stream. A client that presents it gets everything after it, on any node, after
 * any interruption, and folds to the same state as a client that was never disconnected. It never expires: if
 * the place no longer exists, the response is a reset of the open turn, or of the whole conversation if its
 * log was replaced, followed by the durable state.
 *
 * Opaque to clients: keep the newest one and send it back. Its forms are `<seq>`, everything up to that
 * chunk, and `<seq>~<turnId>~<epoch>~<n>` while a turn is open, where `epoch` identifies the lease under
 * which a node wrote the turn's events and `n` counts them from 0. After the seq follows `.<check>`, or
 * `.<check>.<seq>`: a short hash of the message at that seq, by which a log that was replaced is recognized.
 * A cursor without it is valid.
 */
export type Cursor = string & { readonly __brand: "Cursor" };

/** An event and the place right after it. */
export interface CursoredEvent {
  readonly event: AgentEvent;
  readonly cursor: Cursor;
}
