/** Texts to search: the first one is the title, the rest are other words for it. */
export type Searched = readonly string[];

/**
 * Scores how well a query matches, from 0 (not at all) to 1. Every word of the query must be found: at the start of a
 * word of the title counts most, then at the start of one of the other words, then anywhere in the title.
 */
export function matchScore(query: string, [title = "", ...others]: Searched): number {
  const words = wordsOf(query);
  if (words.length === 0) return 1;
  const wholeTitle = title.toLowerCase();
  if (wholeTitle.startsWith(query.trim().toLowerCase())) return 1;
  const titleWords = wordsOf(title);
  const otherWords = others.flatMap(wordsOf);
  let least = 0.9;
  for (const word of words) {
    least = Math.min(least, wordScore(word, titleWords, otherWords, wholeTitle));
  }
  return least;
}

function wordScore(
  word: string,
  titleWords: readonly string[],
  otherWords: readonly string[],
  wholeTitle: string,
): number {
  if (titleWords.some((known) => known.startsWith(word))) return 0.9;
  if (otherWords.some((known) => known.startsWith(word))) return 0.6;
  // One letter is found in everything.
  return word.length > 1 && wholeTitle.includes(word) ? 0.3 : 0;
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
