/** Options of a channel. */
export interface ChannelOptions<T> {
  /** Number of values that may wait before `push` asks its caller to wait; unbounded by default. */
  readonly highWater?: number;
  /**
   * Merges a value into the last waiting one, once more than `joinAbove` wait. Undefined: these two stay separate.
   */
  readonly join?: (last: T, next: T) => T | undefined;
  readonly joinAbove?: number;
  /** Runs when the reader leaves before the end. */
  readonly onLeave?: () => void;
}

interface Reader<T, R> {
  readonly resolve: (result: IteratorResult<T, R>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A queue between one writer and one reader. Writing is synchronous; reading is an async iteration that costs one
 * promise per value, which an async generator in between would triple. Several reads may be pending at once; they are
 * served in order.
 *
 * `push` returns a promise while the reader is more than `highWater` values behind: a writer that can wait awaits it,
 * one that cannot continues, and nothing is lost either way. After `end` or `fail` the reader still gets what was
 * pushed before, then the end's value or the error, once. When the reader leaves, `onLeave` runs and later values are
 * dropped.
 */
export class Channel<T, R = undefined> implements AsyncIterableIterator<T, R | undefined> {
  #values: T[] = [];
  #head = 0;
  #ended = false;
  /** The end, until a read has taken it. */
  #end: { readonly error: unknown } | { readonly value: R | undefined } | undefined;
  #left = false;
  readonly #readers: Reader<T, R | undefined>[] = [];
  #drained: { promise: Promise<void>; resolve: () => void } | undefined;
  readonly #highWater: number;
  readonly #options: ChannelOptions<T>;

  constructor(options: ChannelOptions<T> = {}) {
    this.#highWater = options.highWater ?? Number.POSITIVE_INFINITY;
    this.#options = options;
  }

  /** True once the reader has left. */
  get left(): boolean {
    return this.#left;
  }

  push(value: T): Promise<void> | undefined {
    if (this.#ended || this.#left) return undefined;
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader.resolve({ value, done: false });
      return undefined;
    }
    if (!this.#joined(value)) this.#values.push(value);
    if (this.#values.length - this.#head <= this.#highWater) return undefined;
    if (this.#drained === undefined) {
      let resolve = () => {};
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#drained = { promise, resolve };
    }
    return this.#drained.promise;
  }

  #joined(value: T): boolean {
    const { join, joinAbove = 0 } = this.#options;
    if (join === undefined || this.#values.length - this.#head <= joinAbove) return false;
    const joined = join(this.#values[this.#values.length - 1] as T, value);
    if (joined === undefined) return false;
    this.#values[this.#values.length - 1] = joined;
    return true;
  }

  end(...[value]: R extends undefined ? [] : [value: R]): void {
    this.#finish({ value });
  }

  fail(error: unknown): void {
    this.#finish({ error });
  }

  #finish(end: { readonly error: unknown } | { readonly value: R | undefined }): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#left) return;
    this.#end = end;
    for (const { resolve, reject } of this.#readers.splice(0)) this.#takeEnd().then(resolve, reject);
  }

  /** Takes the end, or reports that it was already taken. */
  #takeEnd(): Promise<IteratorResult<T, R | undefined>> {
    const end = this.#end;
    this.#end = undefined;
    if (end !== undefined && "error" in end) return Promise.reject(end.error);
    return Promise.resolve({ value: end?.value, done: true });
  }

  /**
   * Returns the next value, if it has arrived: a reader that is behind catches up without a promise for each.
   * Undefined if there is none yet, or no more; `next` reports which.
   */
  takeArrived(): T | undefined {
    if (this.#head === this.#values.length) return undefined;
    const value = this.#values[this.#head] as T;
    this.#head += 1;
    if (this.#head === this.#values.length) {
      this.#values = [];
      this.#head = 0;
    } else if (this.#head > 1024 && this.#head * 2 > this.#values.length) {
      // Half of the array is spent: release it, at a cost that stays constant per value.
      this.#values = this.#values.slice(this.#head);
      this.#head = 0;
    }
    if (this.#drained !== undefined && this.#values.length - this.#head <= this.#highWater / 2)
      this.#resumeWriters();
    return value;
  }

  next(): Promise<IteratorResult<T, R | undefined>> {
    if (this.#head < this.#values.length)
      return Promise.resolve({ value: this.takeArrived() as T, done: false });
    if (this.#ended || this.#left) return this.#takeEnd();
    return new Promise((resolve, reject) => {
      this.#readers.push({ resolve, reject });
    });
  }

  return(): Promise<IteratorResult<T, R | undefined>> {
    if (!this.#left) {
      this.#left = true;
      this.#end = undefined;
      this.#values = [];
      this.#head = 0;
      this.#resumeWriters();
      for (const { resolve } of this.#readers.splice(0)) resolve({ value: undefined, done: true });
      if (!this.#ended) this.#options.onLeave?.();
    }
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #resumeWriters(): void {
    const drained = this.#drained;
    this.#drained = undefined;
    drained?.resolve();
  }
}
