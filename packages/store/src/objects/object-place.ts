/** A place for objects under keys of `A-Z a-z 0-9 / - . _`. Every call may be made again. Failures are `store_unavailable`. */
export interface ObjectPlace {
  /** Stores an object, in the place of one with the same key. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Reads `length` bytes from `offset` on; fewer at the end. Null where there is no such object, and behind its end. */
  get(key: string, offset: number, length: number): Promise<Uint8Array | null>;
  /** Removes an object. One that is not there is no failure. */
  remove(key: string): Promise<void>;
  /** All keys that begin so, in any order. */
  list(within: string): AsyncIterable<string>;
}
