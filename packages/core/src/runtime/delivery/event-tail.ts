import type { NumberedEvent, TurnEvent } from "@parley/fold";
import { grownText } from "../../messages/text/grown-text.js";
import { cutRun, type EventRun, isPlainDelta, joinRun, lastNOf, samePart } from "./journal-batch.js";

/**
 * The events of an open turn since its last commit: sent to a late reader, and written by the journal. Deltas of one
 * part are joined as they come, so that a long answer takes the memory of its text and can still be cut at any event.
 */
export class EventTail {
  #runs: EventRun[] = [];
  /** The last run, while it may still grow. */
  #growing: (EventRun & { readonly lengths: number[] }) | undefined;
  /** Deltas that are not added to it yet: adding each to the text as it comes would make a string for each. */
  #pieces: string[] = [];
  #lastN: number;

  /** `lastN`: the number of the last event before the first one that is added. */
  constructor(lastN = -1) {
    this.#lastN = lastN;
  }

  /** The number of the newest event; -1 before the first. */
  get lastN(): number {
    return this.#lastN;
  }

  /** Adds the next event, and returns its number. */
  push(event: TurnEvent): number {
    return this.append(this.#lastN + 1, event);
  }

  /** Adds an event that already has its number. */
  append(n: number, event: TurnEvent): number {
    const growing = this.#growing;
    const isNext = n === this.#lastN + 1;
    this.#lastN = n;
    if (event.type !== "text-delta" && event.type !== "reasoning-delta") {
      this.#endRun();
      this.#runs.push({ firstN: n, event, text: "", lengths: undefined });
      return n;
    }
    // Only plain deltas grow, so the cheap comparison comes before the full check.
    if (
      growing !== undefined &&
      isNext &&
      event.providerMetadata === undefined &&
      samePart(growing.event as typeof event, event)
    ) {
      this.#pieces.push(event.delta);
      return n;
    }
    this.#endRun();
    if (isPlainDelta(event)) {
      const run = { firstN: n, event, text: event.delta, lengths: [event.delta.length] };
      this.#growing = run;
      this.#runs.push(run);
    } else {
      this.#runs.push({ firstN: n, event, text: "", lengths: undefined });
    }
    return n;
  }

  /** Brings the growing run up to date. */
  #takeIn(): void {
    const growing = this.#growing;
    if (growing === undefined || this.#pieces.length === 0) return;
    growing.text += this.#pieces.join("");
    for (const piece of this.#pieces) growing.lengths.push(piece.length);
    this.#pieces = [];
  }

  #endRun(): void {
    this.#takeIn();
    this.#growing = undefined;
  }

  /**
   * Returns the events after `n`, for the journal. The next event begins a run of its own, so that each text is
   * written from its own run: cutting it out of one that grows would copy the whole answer at every flush.
   */
  takeSince(n: number): EventRun[] {
    this.#endRun();
    const taken = this.#runsSince(n, this.#lastN);
    this.#joinLast(n);
    return taken;
  }

  /**
   * Adds what the journal takes to the run that it took before: otherwise there would be one for each flush, and all
   * of them would live until the answer ends.
   */
  #joinLast(n: number): void {
    const later = this.#runs.at(-1);
    const earlier = this.#runs.at(-2);
    if (earlier?.lengths === undefined || later?.lengths === undefined) return;
    if (lastNOf(earlier) > n || !continues(earlier, later)) return;
    earlier.text = grownText(earlier.text, later.text);
    for (const length of later.lengths) earlier.lengths.push(length);
    this.#runs.pop();
  }

  /** Returns everything after `n`, and up to `throughN`, one event per part. */
  since(n: number, throughN = this.#lastN): NumberedEvent[] {
    const events: NumberedEvent[] = [];
    let last: EventRun | undefined;
    for (const run of this.#runsSince(n, throughN)) {
      const event = joinRun(run);
      const before = events.at(-1)?.event;
      if (last !== undefined && continues(last, run) && before !== undefined && isPlainDelta(before)) {
        events[events.length - 1] = { n: event.n, event: { ...before, delta: before.delta + run.text } };
      } else {
        events.push(event);
      }
      last = run;
    }
    return events;
  }

  #runsSince(n: number, throughN: number): EventRun[] {
    this.#takeIn();
    const runs: EventRun[] = [];
    // From the newest end: a journal that keeps up requests a small part.
    for (let index = this.#runs.length - 1; index >= 0; index -= 1) {
      const run = this.#runs[index] as EventRun;
      if (lastNOf(run) <= n) break;
      const cut = cutRun(run, n, throughN);
      if (cut !== undefined) runs.push(cut);
    }
    return runs.reverse();
  }

  /** Clears the tail after a commit: rows hold its events. Numbering continues. */
  clear(): void {
    this.#runs = [];
    this.#growing = undefined;
    this.#pieces = [];
  }
}

/** Returns true if a run of deltas continues the part of another one. */
function continues(earlier: EventRun, later: EventRun): boolean {
  const { event } = later;
  const before = earlier.event;
  return (
    isPlainDelta(before) &&
    isPlainDelta(event) &&
    samePart(before, event) &&
    later.firstN === lastNOf(earlier) + 1
  );
}
