import type { InputResponseEntry } from "@parley/wire";
import type { Clock } from "../../clock.js";

/**
 * Passes the responses to its requests to a running turn: read from the store on notification, and at intervals while
 * the turn has requests, because a wake-up may be lost.
 */
export class DecisionFeed {
  readonly #read: () => Promise<readonly InputResponseEntry[]>;
  readonly #clock: Clock;
  readonly #pollMs: number;
  readonly #onError: (error: unknown) => void;
  readonly #known = new Set<string>();
  #listener: ((response: InputResponseEntry) => void) | undefined;
  #cancelPoll: () => void = () => {};
  #reading = false;
  #again = false;
  #wasMissed = false;

  constructor(options: {
    readonly read: () => Promise<readonly InputResponseEntry[]>;
    readonly clock: Clock;
    /** Poll interval. 0: reads only on notification. */
    readonly pollMs: number;
    readonly onError: (error: unknown) => void;
  }) {
    this.#read = options.read;
    this.#clock = options.clock;
    this.#pollMs = options.pollMs;
    this.#onError = options.onError;
  }

  /** Calls back with each response from now on. Returns a function that stops it. */
  listen(onResponse: (response: InputResponseEntry) => void): () => void {
    this.#listener = onResponse;
    this.#poll();
    if (this.#wasMissed) this.look();
    return () => {
      this.#listener = undefined;
      this.#cancelPoll();
    };
  }

  /** Reads recorded responses: once for any number of concurrent calls. */
  look(): void {
    this.#wasMissed = this.#listener === undefined;
    if (this.#wasMissed) return;
    if (this.#reading) {
      this.#again = true;
      return;
    }
    this.#reading = true;
    void this.#read()
      .then((responses) => {
        for (const response of responses) {
          if (this.#known.has(response.requestId) || this.#listener === undefined) continue;
          this.#known.add(response.requestId);
          this.#listener(response);
        }
      })
      .catch(this.#onError)
      .finally(() => {
        this.#reading = false;
        if (!this.#again) return;
        this.#again = false;
        this.look();
      });
  }

  #poll(): void {
    this.#cancelPoll();
    if (this.#pollMs <= 0) return;
    this.#cancelPoll = this.#clock.after(this.#pollMs, () => {
      this.look();
      if (this.#listener !== undefined) this.#poll();
    });
  }
}
