const firstSeed = 0x243f6a88;
const secondSeed = 0x85a308d3;

/**
 * Returns a 64-bit hash of a text as 16 hex digits: to distinguish texts and detect change, never for security.
 * Counts UTF-16 code units, so any string has one, also with lone surrogates. The same text has the same hash on
 * every machine and in every version, because hashes are stored.
 */
export function hashText(text: string): string {
  return digest(text, firstSeed, secondSeed);
}

/**
 * Returns the hash of a sequence that continues `previous` with `text`. `chainHash("", text)` equals
 * `hashText(text)`. The boundaries between texts matter, so no two different sequences share their hash by being cut
 * differently.
 */
export function chainHash(previous: string, text: string): string {
  if (previous === "") return hashText(text);
  const start = /^[0-9a-f]{16}$/.test(previous) ? previous : hashText(previous);
  return digest(text, Number.parseInt(start.slice(0, 8), 16), Number.parseInt(start.slice(8), 16));
}

// Two 32-bit lanes, because 64-bit integers in JavaScript are many times slower. The second lane mixes in the first
// one at every unit, so that two texts which collide in one lane differ in the other.
function digest(text: string, seedA: number, seedB: number): string {
  let a = seedA | 0;
  let b = seedB | 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    a = Math.imul(((a << 5) | (a >>> 27)) ^ unit, 0x27d4eb2f);
    b = Math.imul(((b << 13) | (b >>> 19)) + unit, 0x165667b1) ^ a;
  }
  a = avalanche(a ^ text.length);
  b = avalanche(b ^ a);
  a = avalanche(a + b);
  return hexOf(a, b);
}

/** Spreads every input bit over the whole word. A bijection, so it loses nothing. */
function avalanche(word: number): number {
  let mixed = word;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return mixed ^ (mixed >>> 16);
}

/** Formats both words in hexadecimal, from their characters: joined from pieces it would take twice the memory. */
function hexOf(a: number, b: number): string {
  const codes = new Array<number>(16);
  for (let place = 0; place < 8; place += 1) {
    const shift = 28 - 4 * place;
    codes[place] = digitCode((a >>> shift) & 15);
    codes[place + 8] = digitCode((b >>> shift) & 15);
  }
  return String.fromCharCode(...codes);
}

function digitCode(digit: number): number {
  return digit < 10 ? 48 + digit : 87 + digit;
}
