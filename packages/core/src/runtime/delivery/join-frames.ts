import { type CursorPlace, openCursor, type SubscriptionFrame, type TurnEvent } from "@parley/fold";
import type { AgentEvent } from "@parley/wire";
import { checkOfLast } from "./cursor.js";
import { EventDeduplicator } from "./event-deduplicator.js";
import { committedCursor, eventFrame } from "./frames.js";
import type { OpenTurnView } from "./live-turn.js";
import { isUnanswered, replayRows } from "./replay.js";

/** Whether a client at this place has seen a beginning of exactly this open turn, and nothing else of it. */
export function isKnownPlace(view: OpenTurnView, place: CursorPlace): boolean {
  const { open } = place;
  return open?.turnId === view.turnId && open.epoch === view.epoch && open.n <= view.lastN;
}

/** The whole open turn from its first event, one event per part: for a reader without a cursor. */
export function wholeTurnFrames(view: OpenTurnView): SubscriptionFrame[] {
  const told = new EventDeduplicator();
  const frames: SubscriptionFrame[] = [];
  // Until the first commit the opening events are still in the tail; after it, the rows speak for them.
  const committed = told.rest(isUnanswered(view.entries) ? [] : replayRows(view));
  // Whoever is cut off in the middle of it has none of it yet: only the last event brings them past the rows.
  const before = committedCursor({
    seq: (view.entries[0]?.firstSeq ?? 1) - 1,
    check: checkOfLast(view.entries),
  });
  for (const [index, event] of committed.entries()) {
    const isLast = index === committed.length - 1;
    frames.push(isLast ? deltaFrame(view, event, view.committedN) : eventFrame(event, before));
  }
  // What a commit brought and the turn told behind it, as a steering message, is in both.
  for (const { n, event } of view.tailSince(view.committedN)) {
    if (told.take(event)) frames.push(deltaFrame(view, event, n));
  }
  return frames;
}

/** What brings a reader from its place to the newest event of an open turn, behind the chunks that it is missing. */
export function restOfTurnFrames(view: OpenTurnView, place: CursorPlace): SubscriptionFrame[] {
  const isKnown = isKnownPlace(view, place);
  const from = isKnown ? Math.max(place.open?.n ?? -1, view.committedN) : view.committedN;
  return view.tailSince(from).map(({ n, event }) => deltaFrame(view, event, n));
}

/**
 * When the turn began, and the usage and timing of steps, where their rows lie behind `seq`: what the chunks of these
 * rows do not say. To be told before them, for a reader with the rows counts as one who has heard it.
 */
export function figuresAfter(view: OpenTurnView, seq: number): TurnEvent[] {
  if (isUnanswered(view.entries)) return [];
  const seen = view.entries.filter((entry) => (entry.lastSeq ?? 0) <= seq);
  const told = new EventDeduplicator();
  if (seen.length > 0) told.rest(replayRows({ ...committedOf(view), entries: seen }));
  return told
    .rest(replayRows(view))
    .filter(({ type }) => type === "turn-start" || type === "usage" || type === "step-complete");
}

function committedOf(view: OpenTurnView) {
  const { conversationId, turnId, model, startedAt, steps } = view;
  return { conversationId, turnId, model, startedAt, steps };
}

function deltaFrame(view: OpenTurnView, event: AgentEvent, n: number): SubscriptionFrame {
  return eventFrame(event, openCursor(view.committedSeq, checkOfLast(view.entries), view)(n));
}
