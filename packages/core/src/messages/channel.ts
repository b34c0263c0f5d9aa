/**
 * A queue between one writer and one reader. Writing is synchronous; reading is an async iteration that costs
 * one promise per value, which an async generator in between would treble.
 *
 * `push` returns a promise while the reader is more than `highWater` values behind: a writer that can wait
 * awaits it, one that cannot goes on, and nothing is lost either way. After `end` or `fail` the reader still
 * gets what was pushed before. When the reader leaves, `onLeave` runs and later values are dropped.
 */
export class Channel<T> implements AsyncIterableIterator<T> {
  #values: T[] = [];
  #head = 0;
  #ended = false;
  #failure: { error: unknown } | undefined;
  #left = false;
  #waiting: { resolve: (result: IteratorResult<T>) => void; reject: (error: unknown) => void } | undefined;
  #room: { promise: Promise<void>; resolve: () => void } | undefined;
  readonly #highWater: number;
  readonly #onLeave: (() => void) | undefined;

  constructor(options: { highWater?: number; onLeave?: () => void } = {}) {
    this.#highWater = options.highWater ?? Number.POSITIVE_INFINITY;
    this.#onLeave = options.onLeave;
  }

  /** True once the reader has left. */
  get left(): boolean {
    return this.#left;
  }

  push(value: T): Promise<void> | undefined {
    if (this.#ended || this.#left) return undefined;
    const waiting = this.#waiting;
    if (waiting !== undefined) {
      this.#waiting = undefined;
      waiting.resolve({ value, done: false });
      return undefined;
    }
    this.#values.push(value);
    if (this.#values.length - this.#head <= this.#highWater) return undefined;
    if (this.#room === undefined) {
      let resolve = () => {};
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#room = { promise, resolve };
    }
    return this.#room.promise;
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ value: undefined, done: true });
  }

  fail(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#failure = { error };
    else waiting.reject(error);
  }

  /**
   * The next value, if it has arrived: a reader that is behind catches up without a promise for each. Undefined
   * when there is none yet, or none any more; `next` tells which.
   */
  takeArrived(): T | undefined {
    if (this.#head === this.#values.length) return undefined;
    const value = this.#values[this.#head] as T;
    this.#head += 1;
    if (this.#head === this.#values.length) {
      this.#values = [];
      this.#head = 0;
    } else if (this.#head > 1024 && this.#head * 2 > this.#values.length) {
      // Half of the array is spent: give it back, at a cost that stays constant per value.
      this.#values = this.#values.slice(this.#head);
      this.#head = 0;
    }
    if (this.#room !== undefined && this.#values.length - this.#head <= this.#highWater / 2) this.#makeRoom();
    return value;
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#head < this.#values.length)
      return Promise.resolve({ value: this.takeArrived() as T, done: false });
    if (this.#failure !== undefined) {
      const { error } = this.#failure;
      this.#failure = undefined;
      return Promise.reject(error);
    }
    if (this.#ended || this.#left) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<T>> {
    if (!this.#left) {
      this.#left = true;
      this.#values = [];
      this.#head = 0;
      this.#makeRoom();
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting?.resolve({ value: undefined, done: true });
      if (!this.#ended) this.#onLeave?.();
    }
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #makeRoom(): void {
    const room = this.#room;
    this.#room = undefined;
    room?.resolve();
  }
}
