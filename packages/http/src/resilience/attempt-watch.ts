import { type Clock, MAX_TIMER_MS } from "../clock.js";
import type { HttpError, TimeoutKind } from "../errors.js";

/** A timer later than this was delayed by a busy process, not by the server. */
const BUSY_LOOP_MS = 100;

/** Reason why the client itself ended an attempt. */
export type Interruption = TimeoutKind | "canceled";

/** Creates the error for an interruption; `reason` is the caller's abort reason. */
export type MakeInterruption = (why: Interruption, reason?: unknown) => HttpError;

/**
 * Watches one attempt from its first hook to the last byte of its body, and ends it when the caller aborts,
 * when the attempt or the whole request takes too long, or when a body stalls.
 *
 * It is in one of three states. Watching: at most one timer and one listener on the caller's signal exist.
 * Interrupted: `failure` holds the reason, the attempt's signal is aborted, timer and listener are removed.
 * Released: the attempt is over, timer and listener are removed, and nothing can interrupt it any more.
 *
 * One timer serves all three timeouts: it is set for the nearest due time and reads the clock when it fires,
 * so that a chunk costs one reading of the clock and no new timer.
 */
export class AttemptWatch {
  readonly #clock: Clock;
  readonly #caller: AbortSignal | undefined;
  readonly #makeInterruption: MakeInterruption;
  readonly #deadlineAt: number;
  readonly #stallMs: number;
  #controller: AbortController | undefined;
  #abortListener: ((reason: unknown) => void) | undefined;
  #attemptDueAt = Number.POSITIVE_INFINITY;
  #waitingSince: number | undefined;
  #timer: unknown;
  #timerDueAt = Number.POSITIVE_INFINITY;
  #interrupt: ((failure: HttpError) => void) | undefined;
  #failure: HttpError | undefined;
  #released = false;
  #handedOver = false;
  #bodyEnded = false;

  constructor(
    clock: Clock,
    caller: AbortSignal | undefined,
    limits: { deadlineAt: number; stallTimeoutMs: number },
    makeInterruption: MakeInterruption,
  ) {
    this.#clock = clock;
    this.#caller = caller;
    this.#makeInterruption = makeInterruption;
    this.#deadlineAt = limits.deadlineAt;
    this.#stallMs = limits.stallTimeoutMs;
    if (caller?.aborted === true) {
      this.#fail("canceled");
      return;
    }
    caller?.addEventListener("abort", this);
    this.#arm();
  }

  /** Aborted when the attempt is interrupted. Created on first use. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#failure !== undefined) this.#controller.abort(this.#failure);
    }
    return this.#controller.signal;
  }

  /** Sets the single listener that is called when the attempt is interrupted, at once if it already was. */
  onAbort(listener: (reason: unknown) => void): void {
    if (this.#failure === undefined) this.#abortListener = listener;
    else listener(this.#failure);
  }

  /** The error that interrupted the attempt, if any. */
  get failure(): HttpError | undefined {
    return this.#failure;
  }

  /**
   * Waits for a step of the attempt, or rejects as soon as the attempt is interrupted. One step at a time. A
   * value that a step yields after that goes to `discard`.
   */
  guard<T>(step: PromiseLike<T>, discard?: (late: T) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#failure === undefined) this.#interrupt = reject;
      else reject(this.#failure);
      step.then((value) => {
        if (this.#failure === undefined) resolve(value);
        else discard?.(value);
      }, reject);
    });
  }

  /** Starts the timeout of the attempt. */
  startAttempt(timeoutMs: number): void {
    if (timeoutMs === Number.POSITIVE_INFINITY) return;
    const now = this.#clock.monotonicNow();
    this.#attemptDueAt = now + timeoutMs;
    this.#arm(now);
  }

  /**
   * Passes the response to the caller, which reads the body: the attempt's timeout ends, and the watch
   * continues until the body ends.
   */
  handOver(): void {
    this.#handedOver = true;
    this.#attemptDueAt = Number.POSITIVE_INFINITY;
    if (this.#bodyEnded) this.release();
    else this.#arm();
  }

  /** Records that the body ended, broke or was given up. */
  bodyEnded(): void {
    this.#bodyEnded = true;
    this.#waitingSince = undefined;
    if (this.#handedOver) this.release();
  }

  /** Records that the reader waits for bytes: the stall timeout starts now. */
  startWaiting(): void {
    if (this.#stallMs === Number.POSITIVE_INFINITY) return;
    const now = this.#clock.monotonicNow();
    this.#waitingSince = now;
    this.#arm(now);
  }

  /** Records that the reader is busy with the bytes it has. */
  stopWaiting(): void {
    this.#waitingSince = undefined;
  }

  /** Ends the watch: the attempt is over, including its body. */
  release(): void {
    this.#released = true;
    this.#interrupt = undefined;
    this.#clearTimer();
    this.#caller?.removeEventListener("abort", this);
  }

  /** Ends an attempt that no caller waits for any more, including its socket. */
  abandon(): void {
    if (this.#released) return;
    this.release();
    this.#abort(undefined);
  }

  /** Handles the abort of the caller's signal. */
  handleEvent(): void {
    this.#fail("canceled");
  }

  #fail(why: Interruption): void {
    if (this.#released) return;
    const failure = this.#makeInterruption(why, why === "canceled" ? this.#caller?.reason : undefined);
    this.#failure = failure;
    const interrupt = this.#interrupt;
    this.release();
    interrupt?.(failure);
    this.#abort(failure);
  }

  #abort(reason: unknown): void {
    this.#controller?.abort(reason);
    this.#abortListener?.(reason);
    this.#abortListener = undefined;
  }

  #arm(now?: number): void {
    if (this.#released) return;
    const stallAt =
      this.#waitingSince === undefined ? Number.POSITIVE_INFINITY : this.#waitingSince + this.#stallMs;
    const dueAt = Math.min(this.#deadlineAt, this.#attemptDueAt, stallAt);
    // A timer that fires too early is set again; only one that would fire too late must be replaced.
    if (this.#timer !== undefined && this.#timerDueAt <= dueAt && dueAt !== Number.POSITIVE_INFINITY) return;
    this.#clearTimer();
    if (dueAt === Number.POSITIVE_INFINITY) return;
    const delayMs = Math.max(0, Math.ceil(dueAt - (now ?? this.#clock.monotonicNow())));
    this.#timerDueAt = dueAt;
    this.#timer = this.#clock.setTimer(() => this.#onTimer(), Math.min(delayMs, MAX_TIMER_MS));
  }

  #onTimer(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonicNow();
    if (now >= this.#deadlineAt) this.#fail("overall");
    else if (now >= this.#attemptDueAt) this.#fail("attempt");
    else if (this.#stalled(now)) this.#fail("stall");
    else this.#arm(now);
  }

  #stalled(now: number): boolean {
    if (this.#waitingSince === undefined) return false;
    const lateMs = now - (this.#waitingSince + this.#stallMs);
    if (lateMs < 0) return false;
    if (lateMs < BUSY_LOOP_MS) return true;
    // The process itself was so busy that unread bytes may be in the socket: restart the stall timeout.
    this.#waitingSince = now;
    return false;
  }

  #clearTimer(): void {
    if (this.#timer === undefined) return;
    this.#clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }
}
