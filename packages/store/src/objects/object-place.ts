/**
 * A place for objects under keys of `A-Z a-z 0-9 / - . _`. Every call may be repeated. Failures are
 * `store_unavailable`.
 */
export interface ObjectPlace {
  /** Stores an object, and replaces one with the same key. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Reads `length` bytes from `offset` on; fewer at the end. Null if there is no such object, and behind its end. */
  get(key: string, offset: number, length: number): Promise<Uint8Array | null>;
  /** Removes an object. A missing one is no failure. */
  remove(key: string): Promise<void>;
  /** Lists all keys with this prefix, in any order. */
  list(within: string): AsyncIterable<string>;
}
