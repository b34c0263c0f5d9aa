import type { Clock } from "../../clock.js";
import type { ParleyError } from "../../errors.js";
import { type AnswerLimits, contentTimeout } from "../../ports/answer-limits.js";

/** A timer this late was delayed by a busy or suspended process, not by the provider. */
const lateMs = 5_000;

/**
 * Measures how long a provider sends no content, and calls back once when that is too long. Only what adds something
 * for a reader is content: pings, comments and empty deltas are not. Time in which the reader itself is busy does not
 * count.
 *
 * One timer serves a whole answer: it reads the clock when it fires, so that an event needs no timer of its own.
 */
export class ContentWatch {
  readonly #clock: Clock;
  readonly #limits: Pick<AnswerLimits, "firstContentMs" | "betweenContentMs">;
  readonly #onSilence: (error: ParleyError) => void;
  #limit: "firstContentMs" | "betweenContentMs" = "firstContentMs";
  #quietSince: number;
  /** True if content arrived that is not included in `#quietSince` yet. */
  #isStale = false;
  #isBusy = false;
  #dueAt = 0;
  #cancelTimer: () => void = () => {};

  constructor(
    clock: Clock,
    limits: Pick<AnswerLimits, "firstContentMs" | "betweenContentMs">,
    onSilence: (error: ParleyError) => void,
  ) {
    this.#clock = clock;
    this.#limits = limits;
    this.#onSilence = onSilence;
    this.#quietSince = clock.monotonic();
    this.#arm(this.#quietSince);
  }

  /** Records that content arrived. */
  content(): void {
    this.#isStale = true;
    if (this.#limit === "betweenContentMs") return;
    this.#limit = "betweenContentMs";
    this.#restart();
  }

  /** Records that the reader waits for the provider from now on. */
  waiting(): void {
    if (this.#isStale || this.#isBusy) this.#restart();
  }

  /** Records that the reader is busy with what it has, until it waits again. */
  busy(): void {
    this.#isBusy = true;
  }

  stop(): void {
    this.#cancelTimer();
  }

  #restart(): void {
    this.#isStale = false;
    this.#isBusy = false;
    this.#quietSince = this.#clock.monotonic();
    // A timer that fires too early checks again; only one that would fire too late is replaced.
    if (this.#dueAt > this.#quietSince + this.#limits[this.#limit]) this.#arm(this.#quietSince);
  }

  #arm(now: number): void {
    this.#cancelTimer();
    this.#dueAt = this.#quietSince + this.#limits[this.#limit];
    this.#cancelTimer = this.#clock.after(Math.max(0, this.#dueAt - now), () => this.#look());
  }

  #look(): void {
    const now = this.#clock.monotonic();
    const ms = this.#limits[this.#limit];
    if (this.#isStale || this.#isBusy || now - this.#dueAt > lateMs) this.#quietSince = now;
    if (now - this.#quietSince < ms) this.#arm(now);
    else this.#onSilence(contentTimeout(this.#limit, ms));
  }
}
