/** Creates a small generator of numbers between 0 and 1: the same seed gives the same numbers. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Splits a text into pieces about as a model sends them: a word with the space before it, long words in two.
 */
export function pieces(text: string): string[] {
  return (text.match(/\s*[^\s]{1,8}|\s+$/gu) ?? []).filter((piece) => piece !== "");
}

/** Returns the pause before a piece at normal reading speed, in milliseconds. */
export function pauseBefore(piece: string, random: () => number): number {
  const breath = /[.!?:]$/.test(piece) ? 60 : /\n/.test(piece) ? 40 : 0;
  return Math.round(12 + random() * 26 + breath);
}
