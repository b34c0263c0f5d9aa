import { onceKey, type TurnEvent } from "@parley/fold";

/**
 * Remembers which events of a turn were published. A follower reads some events of a turn from the journal and the
 * rest from rows, if a commit happened in between: this finds what is still unpublished, so that each event is
 * published once and every text in full, in the order of the turn.
 */
export class EventDeduplicator {
  /** Keys of the events that a turn publishes once. */
  readonly #keys = new Set<string>();
  /** The text published so far of each part, by message, until the message is complete. */
  readonly #texts = new Map<string, Map<string, string>>();
  /** Messages whose rows were published: nothing of them is left to publish. */
  readonly #complete = new Set<string>();

  /** Adds a live event. Returns false if it was published before. */
  take(event: TurnEvent): boolean {
    const key = onceKey(event);
    if (key !== undefined) {
      if (this.#keys.has(key)) return false;
      this.#keys.add(key);
      return true;
    }
    if (event.type === "text-delta" || event.type === "reasoning-delta") {
      const { messageId = "" } = event;
      if (this.#complete.has(messageId)) return false;
      const parts = this.#texts.get(messageId) ?? new Map<string, string>();
      parts.set(partOf(event), (parts.get(partOf(event)) ?? "") + event.delta);
      this.#texts.set(messageId, parts);
    }
    return true;
  }

  /** Adds events made from rows, one per part; returns what is new in them. */
  rest(events: readonly TurnEvent[]): TurnEvent[] {
    const missing: TurnEvent[] = [];
    for (const event of events) {
      if (event.type !== "text-delta" && event.type !== "reasoning-delta") {
        if (this.take(event)) missing.push(event);
        continue;
      }
      const published = this.#texts.get(event.messageId ?? "")?.get(partOf(event)) ?? "";
      // If the provider's final text differs from its deltas, the rows correct it.
      if (!event.delta.startsWith(published) || event.delta.length === published.length) continue;
      const more = { ...event, delta: event.delta.slice(published.length) };
      if (this.take(more)) missing.push(more);
    }
    return missing;
  }

  /** Marks messages whose rows were published. */
  complete(messageIds: Iterable<string>): void {
    for (const id of messageIds) {
      this.#complete.add(id);
      this.#texts.delete(id);
    }
  }
}

function partOf(event: TurnEvent & { type: "text-delta" | "reasoning-delta" }): string {
  return `${event.partIndex} ${event.type}`;
}
