import type { AgentEvent } from "@parley/wire";
import { Channel } from "../messages/channel.js";
import type { TurnListener, TurnOutcome, TurnStream } from "./turn.js";

type Result = IteratorResult<AgentEvent, TurnOutcome>;

/**
 * Converts the events that a turn pushes to a stream that a reader pulls. The turn starts with the first read. An
 * event that was not requested yet is held, and the turn waits until it is taken, so that it is never more than one
 * event ahead, or the results that came together.
 */
export class TurnEvents implements TurnStream {
  readonly #drive: (listener: TurnListener, left: AbortSignal) => Promise<TurnOutcome>;
  readonly #left = new AbortController();
  readonly #events = new Channel<AgentEvent, TurnOutcome>({
    highWater: 0,
    onLeave: () => this.#left.abort(),
  });
  #isStarted = false;

  /** `drive` runs the turn; its signal aborts when the reader leaves early. */
  constructor(drive: (listener: TurnListener, left: AbortSignal) => Promise<TurnOutcome>) {
    this.#drive = drive;
  }

  next(): Promise<Result> {
    if (!this.#isStarted) this.#start();
    // After the end, a generator's reader also gets `undefined`, which its type does not include.
    return this.#events.next() as Promise<Result>;
  }

  async return(value: TurnOutcome | PromiseLike<TurnOutcome>): Promise<Result> {
    await this.#leave();
    return { value: await value, done: true };
  }

  async throw(error: unknown): Promise<Result> {
    await this.#leave();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #start(): void {
    this.#isStarted = true;
    this.#drive((event) => this.#events.push(event), this.#left.signal).then(
      (outcome) => this.#events.end(outcome),
      (error: unknown) => this.#events.fail(error),
    );
  }

  /** Leaves the turn. One that was never read never starts. */
  #leave(): Promise<unknown> {
    this.#isStarted = true;
    return this.#events.return();
  }
}
