import type { Clock } from "../clock.js";

/** Source of identifiers, injected so that tests are repeatable. */
export interface IdFactory {
  /** Returns a new id, unique and, by default, ordered by time. */
  next(): string;
}

/** The character codes of the hexadecimal digits. */
const digits = Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

/**
 * Creates UUIDv7 ids. Ids made in the same millisecond, or while the clock stops or goes back, still ascend: a 12-bit
 * counter follows the timestamp, and when it is full the timestamp advances by one.
 */
export function createUuidV7Factory(
  clock: Pick<Clock, "now"> = Date,
  random: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array = createRandomBytes(),
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
        // Starting in the lower half leaves enough values to count up within the millisecond.
        counter = (((bytes[8] ?? 0) << 8) | (bytes[9] ?? 0)) & 0x7ff;
      } else if (++counter > 0xfff) {
        lastMs += 1;
        counter = 0;
      }
      return formatUuid(lastMs, counter, bytes);
    },
  };
}
/** Creates a source of random bytes, fetched for many ids at a time: a fetch costs far more than the bytes. */
function createRandomBytes(): (bytes: Uint8Array<ArrayBuffer>) => Uint8Array {
  const pool = new Uint8Array(2_560);
  let used = pool.length;
  return (bytes) => {
    if (used + bytes.length > pool.length) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = pool[used++] ?? 0;
    return bytes;
  };
}

/**
 * Formats an id from its characters: joined from pieces, an id would take several times its memory wherever it is
 * kept.
 */
function formatUuid(ms: number, counter: number, random: Uint8Array): string {
  const codes = new Array<number>(36).fill(0x2d);
  writeHex(codes, 0, 8, Math.floor(ms / 0x10000));
  writeHex(codes, 9, 4, ms % 0x10000);
  writeHex(codes, 14, 4, 0x7000 | counter);
  writeHex(codes, 19, 2, ((random[0] ?? 0) & 0x3f) | 0x80);
  writeHex(codes, 21, 2, random[1] ?? 0);
  for (let index = 2; index < 8; index += 1) writeHex(codes, 20 + 2 * index, 2, random[index] ?? 0);
  return String.fromCharCode(...codes);
}

function writeHex(codes: number[], start: number, length: number, value: number): void {
  let rest = value;
  for (let place = start + length - 1; place >= start; place -= 1) {
    codes[place] = digits[rest & 15] ?? 0;
    rest >>>= 4;
  }
}
