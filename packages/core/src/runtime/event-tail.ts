import type { NumberedEvent, TurnEvent } from "./journal-batch.js";
import { cutRun, type EventRun, isPlainDelta, joinRun, lastNOf, samePart } from "./journal-batch.js";

/**
 * The events of an open turn since its last commit: what a late reader is sent, and what the journal writes.
 * Deltas of one part are joined as they come, so that a long answer takes the memory of its text and can still
 * be cut at any event.
 */
export class EventTail {
  #runs: EventRun[] = [];
  /** The last run, while it may still grow. */
  #growing: (EventRun & { readonly lengths: number[] }) | undefined;
  #lastN: number;

  /** `lastN`: the number of the last event before the first one that comes in. */
  constructor(lastN = -1) {
    this.#lastN = lastN;
  }

  /** The number of the newest event; -1 before the first. */
  get lastN(): number {
    return this.#lastN;
  }

  /** Takes the next event, and returns its number. */
  push(event: TurnEvent): number {
    return this.append(this.#lastN + 1, event);
  }

  /** Takes an event that has its number already. */
  append(n: number, event: TurnEvent): number {
    const growing = this.#growing;
    const isNext = n === this.#lastN + 1;
    this.#lastN = n;
    if (event.type !== "text-delta" && event.type !== "reasoning-delta") {
      this.#growing = undefined;
      this.#runs.push({ firstN: n, event, text: "", lengths: undefined });
      return n;
    }
    // Only plain deltas grow, so the cheap comparison comes before the whole question.
    if (
      growing !== undefined &&
      isNext &&
      event.providerMetadata === undefined &&
      samePart(growing.event as typeof event, event)
    ) {
      growing.text += event.delta;
      growing.lengths.push(event.delta.length);
      return n;
    }
    if (isPlainDelta(event)) {
      const run = { firstN: n, event, text: event.delta, lengths: [event.delta.length] };
      this.#growing = run;
      this.#runs.push(run);
    } else {
      this.#growing = undefined;
      this.#runs.push({ firstN: n, event, text: "", lengths: undefined });
    }
    return n;
  }

  /** What came after `n`, and up to `throughN`, for the journal. */
  runsSince(n: number, throughN = this.#lastN): EventRun[] {
    const runs: EventRun[] = [];
    // From the newest end: a journal that keeps up asks for a small part.
    for (let index = this.#runs.length - 1; index >= 0; index -= 1) {
      const run = this.#runs[index] as EventRun;
      if (lastNOf(run) <= n) break;
      const cut = cutRun(run, n, throughN);
      if (cut !== undefined) runs.push(cut);
    }
    return runs.reverse();
  }

  /** Everything after `n`, and up to `throughN`, one event per part. */
  since(n: number, throughN = this.#lastN): NumberedEvent[] {
    return this.runsSince(n, throughN).map(joinRun);
  }

  /** After a commit: rows hold what this held. Numbering goes on. */
  clear(): void {
    this.#runs = [];
    this.#growing = undefined;
  }
}
