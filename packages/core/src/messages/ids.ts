import type { Clock } from "../clock.js";

/** Makes identifiers: injected, so that tests are repeatable. */
export interface IdFactory {
  /** A new id, unique and, by default, ordered by time. */
  next(): string;
}

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * UUIDv7 ids. Ids made in the same millisecond, or while the clock stands still or goes back, still
 * ascend: a 12-bit counter follows the timestamp, and when it is full the timestamp moves on by one.
 */
export function createUuidV7Factory(
  clock: Pick<Clock, "now"> = Date,
  random: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array = (bytes) => crypto.getRandomValues(bytes),
): IdFactory {
  let lastMs = 0;
  let counter = 0;
  const bytes = new Uint8Array(10);
  return {
    next() {
      random(bytes);
      const now = clock.now();
      if (now > lastMs) {
        lastMs = now;
        // Starting in the lower half leaves room to count up within the millisecond.
        counter = (((bytes[8] ?? 0) << 8) | (bytes[9] ?? 0)) & 0x7ff;
      } else if (++counter > 0xfff) {
        lastMs += 1;
        counter = 0;
      }
      const time = lastMs.toString(16).padStart(12, "0");
      const h = (index: number) => hex[bytes[index] ?? 0] ?? "00";
      const variant = hex[((bytes[0] ?? 0) & 0x3f) | 0x80] ?? "80";
      const count = counter.toString(16).padStart(3, "0");
      return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${variant}${h(1)}-${h(2)}${h(3)}${h(4)}${h(5)}${h(6)}${h(7)}`;
    },
  };
}

/** Ids that count up: `prefix1`, `prefix2`, ... for tests and examples. */
export function createCountingIds(prefix = "id"): IdFactory {
  let last = 0;
  return { next: () => `${prefix}${++last}` };
}
