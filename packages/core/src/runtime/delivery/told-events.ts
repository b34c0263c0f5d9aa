import type { TurnEvent } from "./journal-batch.js";

/**
 * What has been told of a turn. Whoever follows a turn from the store hears some of its events from the journal
 * and learns the rest from rows, when a commit came in between: this tells what is still to be said, so that each
 * event is told once and every text in full, in the order in which the turn told them.
 */
export class ToldEvents {
  /** Events that are told whole, by what they are about. */
  readonly #marks = new Set<string>();
  /** The text told so far of each part, by message, until the message is complete. */
  readonly #texts = new Map<string, Map<string, string>>();
  /** Messages whose rows were told: nothing is left to say of them. */
  readonly #complete = new Set<string>();

  /** Takes an event as the turn told it. False if it was told before. */
  take(event: TurnEvent): boolean {
    const mark = markOf(event);
    if (mark !== undefined) {
      if (this.#marks.has(mark)) return false;
      this.#marks.add(mark);
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

  /** Takes events that tell a turn from its rows, one per part; returns what is new in them. */
  rest(events: readonly TurnEvent[]): TurnEvent[] {
    const missing: TurnEvent[] = [];
    for (const event of events) {
      if (event.type !== "text-delta" && event.type !== "reasoning-delta") {
        if (this.take(event)) missing.push(event);
        continue;
      }
      const told = this.#texts.get(event.messageId ?? "")?.get(partOf(event)) ?? "";
      // Where the provider's last word differs from what it streamed, the rows correct it.
      if (!event.delta.startsWith(told) || event.delta.length === told.length) continue;
      const more = { ...event, delta: event.delta.slice(told.length) };
      if (this.take(more)) missing.push(more);
    }
    return missing;
  }

  /** The rows of these messages have been told. */
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

/** What an event is about that a turn tells once; undefined for increments. */
function markOf(event: TurnEvent): string | undefined {
  switch (event.type) {
    case "user-message":
    case "turn-start":
    case "error":
    case "done":
      return event.type;
    case "usage":
    case "step-complete":
      return `${event.type} ${event.stepId}`;
    case "tool-call":
    case "tool-result":
      return `${event.type} ${event.stepId} ${event.toolCallId}`;
    case "steering":
      return `steering ${event.messageIds?.join(" ")}`;
    case "text-delta":
    case "reasoning-delta":
    case "tool-output":
      return undefined;
    default:
      return event satisfies never;
  }
}
