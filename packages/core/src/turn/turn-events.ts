import type { AgentEvent } from "@parley/wire";
import type { TurnListener, TurnOutcome, TurnStream } from "./turn.js";

type Result = IteratorResult<AgentEvent, TurnOutcome>;

/** As a generator ends whose return value was taken before. */
const over = { value: undefined, done: true } as unknown as Result;

/**
 * Between a turn that tells its events and a reader that asks for them. The turn begins with the first read. An
 * event that nobody has asked for yet is held, and the turn waits until it is taken, so that it is never more
 * than one event ahead, or the results that came together. Costs one promise per event, where an async generator in
 * between would cost several.
 */
export class TurnEvents implements TurnStream {
  readonly #drive: (tell: TurnListener, left: AbortSignal) => Promise<TurnOutcome>;
  readonly #left = new AbortController();
  /** Reads that wait for an event, first come first served. */
  #readers: ((result: Result | PromiseLike<Result>) => void)[] = [];
  #held: { readonly event: AgentEvent; readonly taken: () => void }[] = [];
  #state: "new" | "running" | "over" = "new";
  /** The turn's own end, until a read has taken it. */
  #end: Promise<Result> | undefined;

  /** `drive` runs the turn; its signal aborts when the reader leaves early. */
  constructor(drive: (tell: TurnListener, left: AbortSignal) => Promise<TurnOutcome>) {
    this.#drive = drive;
  }

  next(): Promise<Result> {
    if (this.#state === "new") this.#start();
    const held = this.#held.shift();
    if (held !== undefined) {
      held.taken();
      return Promise.resolve({ value: held.event, done: false });
    }
    if (this.#state === "over") return this.#takeEnd();
    return new Promise((resolve) => {
      this.#readers.push(resolve);
    });
  }

  return(value: TurnOutcome | PromiseLike<TurnOutcome>): Promise<Result> {
    this.#leave();
    return Promise.resolve(value).then((outcome) => ({ value: outcome, done: true }));
  }

  throw(error: unknown): Promise<Result> {
    this.#leave();
    return Promise.reject(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #start(): void {
    this.#state = "running";
    this.#drive((event) => this.#tell(event), this.#left.signal).then(
      (outcome) => this.#finish(Promise.resolve({ value: outcome, done: true })),
      (error: unknown) => this.#finish(Promise.reject(error)),
    );
  }

  #tell(event: AgentEvent): Promise<void> | undefined {
    if (this.#state === "over") return undefined;
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader({ value: event, done: false });
      return undefined;
    }
    return new Promise((taken) => {
      this.#held.push({ event, taken });
    });
  }

  #finish(end: Promise<Result> | undefined): void {
    // A reader that left is told nothing more, not even of a failure.
    if (this.#state === "over") end?.catch(() => {});
    else this.#end = end;
    this.#state = "over";
    const readers = this.#readers;
    this.#readers = [];
    for (const reader of readers) reader(this.#takeEnd());
  }

  #takeEnd(): Promise<Result> {
    const end = this.#end ?? Promise.resolve(over);
    this.#end = undefined;
    return end;
  }

  #leave(): void {
    this.#left.abort();
    for (const { taken } of this.#held) taken();
    this.#held = [];
    this.#finish(undefined);
  }
}
