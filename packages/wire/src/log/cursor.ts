import type { AgentEvent } from "./agent-event.js";

/**
 * A place in a conversation's stream. Whoever presents it gets what comes after it, on any node, after any
 * cut, and folds to the same state as a client that was never cut off. It never expires: if the place no
 * longer exists, the answer is a reset of the open turn, or of the whole conversation where its log was replaced,
 * and then what is durable.
 *
 * Opaque to clients: keep the newest one and hand it back. Its forms are `<seq>`, everything up to that
 * chunk, and `<seq>~<turnId>~<epoch>~<n>` while a turn is open, where `epoch` names the node's tenure that
 * wrote the turn's events and `n` counts them from 0. Behind the seq stands `.<check>`, or `.<check>.<seq>`: a short
 * hash of the message at that seq, by which a log that was replaced is recognised. A cursor without it is valid.
 */
export type Cursor = string & { readonly __brand: "Cursor" };

/** An event and the place right behind it. */
export interface CursoredEvent {
  readonly event: AgentEvent;
  readonly cursor: Cursor;
}
