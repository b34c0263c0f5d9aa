/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const constants = Int32Array.from(fractions(64, (prime) => Math.cbrt(prime)));
/** Those of the square roots of the first 8. */
const initial = Int32Array.from(fractions(8, (prime) => Math.sqrt(prime)));

const encoder = new TextEncoder();

/**
 * Returns the SHA-256 of a text's UTF-8 bytes in hexadecimal: for values that must not be confused. Computed here,
 * synchronously: the platforms' own digest is asynchronous and runs on other threads, which a turn of a few calls
 * would wait for dozens of times, and a test's clock could not know for how long.
 */
export function sha256(text: string): string {
  const words = paddedWords(encoder.encode(text));
  const state = Int32Array.from(initial);
  const schedule = new Int32Array(64);
  for (let at = 0; at < words.length; at += 16) {
    schedule.set(words.subarray(at, at + 16));
    mix(state, schedule);
  }
  let hex = "";
  for (const word of state) hex += (word >>> 0).toString(16).padStart(8, "0");
  return hex;
}

/**
 * Returns the bytes as big-endian words, a 1 bit after them, and their length in bits at the end of the last block.
 */
function paddedWords(bytes: Uint8Array): Int32Array {
  const words = new Int32Array(((bytes.length + 8) >> 6) * 16 + 16);
  for (let index = 0; index < bytes.length; index += 1) {
    words[index >> 2] = at(words, index >> 2) | ((bytes[index] ?? 0) << (24 - (index & 3) * 8));
  }
  const end = bytes.length;
  words[end >> 2] = at(words, end >> 2) | (0x80 << (24 - (end & 3) * 8));
  words[words.length - 2] = Math.floor(end / 0x2000_0000);
  words[words.length - 1] = end << 3;
  return words;
}

function mix(state: Int32Array, schedule: Int32Array): void {
  for (let index = 16; index < 64; index += 1) {
    const early = at(schedule, index - 15);
    const late = at(schedule, index - 2);
    const small = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const large = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    schedule[index] = at(schedule, index - 16) + small + at(schedule, index - 7) + large;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let index = 0; index < 64; index += 1) {
    const one = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const choice = (e & f) ^ (~e & g);
    const next = (h + one + choice + at(constants, index) + at(schedule, index)) | 0;
    const zero = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + next) | 0;
    d = c;
    c = b;
    b = a;
    a = (next + zero + majority) | 0;
  }
  for (const [index, value] of [a, b, c, d, e, f, g, h].entries()) state[index] = at(state, index) + value;
}

function rotated(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

function at(words: Int32Array, index: number): number {
  return words[index] ?? 0;
}

function fractions(count: number, root: (prime: number) => number): number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate += 1) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  return primes.map((prime) => Math.floor((root(prime) % 1) * 2 ** 32));
}
