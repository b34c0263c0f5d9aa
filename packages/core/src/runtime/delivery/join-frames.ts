import { type CursorPlace, eventTraits, type SubscriptionFrame, type TurnEvent } from "@parley/fold";
import { checkOfLast } from "./cursor.js";
import { EventDeduplicator } from "./event-deduplicator.js";
import { committedCursor, eventFrame } from "./frames.js";
import type { OpenTurn } from "./open-turn.js";
import { isUnanswered, replayRows } from "./replay.js";

/** Returns true if a client at this place has received a beginning of exactly this open turn, and nothing else of it. */
export function isKnownPlace(view: OpenTurn, place: CursorPlace): boolean {
  const { open } = place;
  return open?.turnId === view.turnId && open.epoch === view.epoch && open.n <= view.lastN;
}

/** Makes the frames of the whole open turn from its first event, one event per part: for a reader without a cursor. */
export function wholeTurnFrames(view: OpenTurn): SubscriptionFrame[] {
  const published = new EventDeduplicator();
  const frames: SubscriptionFrame[] = [];
  // Until the first commit the opening events are still in the tail; after it, they come from the rows.
  const committed = published.rest(isUnanswered(view.entries) ? [] : replayRows(view));
  // A reader that is cut off in the middle has none of it yet: only the last event brings it past the rows.
  const before = committedCursor({
    seq: (view.entries[0]?.firstSeq ?? 1) - 1,
    check: checkOfLast(view.entries),
  });
  for (const [index, event] of committed.entries()) {
    const isLast = index === committed.length - 1;
    frames.push(isLast ? eventFrame(event, view.cursorAt(view.committedN)) : eventFrame(event, before));
  }
  // An event that a turn publishes after its commit, such as `steering`, is in both.
  for (const { n, event } of view.tailSince(view.committedN)) {
    if (published.take(event)) frames.push(eventFrame(event, view.cursorAt(n)));
  }
  if (view.waiting !== undefined) frames.push(view.waitingFrame());
  if (view.progress !== undefined) frames.push(view.progressFrame());
  return frames;
}

/** Makes the frames from a place to the newest event of an open turn, to be sent after the chunks that are missing. */
export function restOfTurnFrames(view: OpenTurn, place: CursorPlace): SubscriptionFrame[] {
  const isKnown = isKnownPlace(view, place);
  const from = isKnown ? Math.max(place.open?.n ?? -1, view.committedN) : view.committedN;
  return view.tailSince(from).map(({ n, event }) => eventFrame(event, view.cursorAt(n)));
}

/**
 * Makes the events of the rows after `seq` that these rows do not state: the start of the turn, and the usage and
 * timing of steps. To be sent before the rows, because a cursor after the rows means that the reader has received
 * them.
 */
export function figuresAfter(view: OpenTurn, seq: number): TurnEvent[] {
  if (isUnanswered(view.entries)) return [];
  const seen = view.entries.filter((entry) => (entry.lastSeq ?? 0) <= seq);
  const published = new EventDeduplicator();
  if (seen.length > 0) published.rest(replayRows({ ...committedOf(view), entries: seen }));
  return published.rest(replayRows(view)).filter(({ type }) => !eventTraits[type].inRows);
}

function committedOf(view: OpenTurn) {
  const { conversationId, turnId, model, startedAt, steps } = view;
  return { conversationId, turnId, model, startedAt, steps };
}
