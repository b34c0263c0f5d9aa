/** A text is flattened whenever it has grown by about an eighth, and at the earliest by 2^10 characters. */
const leastBits = 10;

/**
 * Appends to a text. The engine keeps a text that grows as a tree of all the pieces it was ever made of, until it is
 * read; with many answers in progress, collecting garbage then walks through every delta of each. Here it is
 * flattened from time to time, at a cost that stays constant per character.
 */
export function grownText(text: string, delta: string): string {
  const grown = text + delta;
  const bits = Math.max(leastBits, 29 - Math.clz32(text.length));
  // Accessing a character reads the text.
  if (grown.length >>> bits !== text.length >>> bits) grown.charCodeAt(0);
  return grown;
}
