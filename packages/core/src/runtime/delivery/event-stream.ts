import { onceKey, partKeyOf } from "@parley/fold";
import type { AgentEvent } from "@parley/wire";

/**
 * The events of one turn for a reader that gets only events, no rows and no resets. When the turn is lost by its
 * node, the durable part of it is published again from its beginning: this finds what the reader has not received
 * yet, so that no event comes twice and no text is doubled.
 */
export class EventStream {
  readonly #keys = new Set<string>();
  /**
   * Number of characters of each part that the reader has received, and of those that were repeated since the reset.
   */
  readonly #parts = new Map<string, { had: number; again: number }>();
  #isRepeating = false;

  /** Marks that events may repeat from here on. */
  reset(): void {
    this.#isRepeating = true;
    for (const part of this.#parts.values()) part.again = 0;
  }

  /** Returns the event, its part that is new, or undefined if nothing is. */
  next(event: AgentEvent): AgentEvent | undefined {
    if (event.type === "text-delta" || event.type === "reasoning-delta") {
      const key = `${event.type} ${partKeyOf(event)}`;
      const part = this.#parts.get(key) ?? { had: 0, again: 0 };
      this.#parts.set(key, part);
      const { length } = event.delta;
      if (!this.#isRepeating) {
        part.had += length;
        return event;
      }
      const known = Math.min(length, Math.max(0, part.had - part.again));
      part.again += length;
      part.had = Math.max(part.had, part.again);
      if (known === 0) return event;
      return known === length ? undefined : { ...event, delta: event.delta.slice(known) };
    }
    const key = onceKey(event);
    if (key === undefined) return event;
    if (this.#keys.has(key)) return undefined;
    this.#keys.add(key);
    return event;
  }
}
