/** A text is made one piece whenever it has grown by an eighth or so, and at the earliest by 2^10 characters. */
const leastBits = 10;

/**
 * A text and what comes behind it. The engine keeps a text that grows as a tree of all the pieces it was ever made of,
 * until someone reads it; with many answers under way, collecting garbage then means walking through every delta of
 * each. Here it is one piece again from time to time, at a cost that stays constant per character.
 */
export function grownText(text: string, delta: string): string {
  const grown = text + delta;
  const bits = Math.max(leastBits, 29 - Math.clz32(text.length));
  // To look at a character is to read it.
  if (grown.length >>> bits !== text.length >>> bits) grown.charCodeAt(0);
  return grown;
}
