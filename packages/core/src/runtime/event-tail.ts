import type { NumberedEvent, TurnEvent } from "./journal-batch.js";
import { isPlainDelta, samePart } from "./journal-batch.js";

interface Run {
  readonly firstN: number;
  event: TurnEvent;
  /** The length of each delta that was joined into `event`; undefined for any other event. */
  readonly lengths?: number[];
}

/**
 * The events of an open turn since its last commit, as a late reader on this node is sent them. Deltas of one
 * part are joined as they come, so that a long answer takes the memory of its text and can still be cut at any
 * event.
 */
export class EventTail {
  #runs: Run[] = [];
  #lastN = -1;

  /** The number of the newest event; -1 before the first. */
  get lastN(): number {
    return this.#lastN;
  }

  append(n: number, event: TurnEvent): void {
    this.#lastN = n;
    if (!isPlainDelta(event)) {
      this.#runs.push({ firstN: n, event });
      return;
    }
    const last = this.#runs.at(-1);
    if (last?.lengths !== undefined && isPlainDelta(last.event) && samePart(last.event, event)) {
      last.event = { ...last.event, delta: last.event.delta + event.delta };
      last.lengths.push(event.delta.length);
    } else {
      this.#runs.push({ firstN: n, event, lengths: [event.delta.length] });
    }
  }

  /** Everything after `n`, one event per part. */
  since(n: number): NumberedEvent[] {
    const events: NumberedEvent[] = [];
    for (const { firstN, event, lengths } of this.#runs) {
      const lastN = firstN + (lengths?.length ?? 1) - 1;
      if (lastN <= n) continue;
      const skipped = n + 1 - firstN;
      if (lengths === undefined || skipped <= 0 || !isPlainDelta(event)) {
        events.push({ n: lastN, event });
        continue;
      }
      let start = 0;
      for (let index = 0; index < skipped; index += 1) start += lengths[index] ?? 0;
      events.push({ n: lastN, event: { ...event, delta: event.delta.slice(start) } });
    }
    return events;
  }

  /** After a commit: rows hold what this held. Numbering goes on. */
  clear(): void {
    this.#runs = [];
  }
}
