/** A part of a snippet. */
export interface SnippetPart {
  readonly text: string;
  /** It is one of the words that were searched for. */
  readonly isHit: boolean;
  /** Offset of the beginning, in characters. */
  readonly start: number;
}

/** Scripts without spaces between words: a match may start anywhere in them. */
const unspaced =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\u30fc";
const words = new RegExp(`[${unspaced}]+|(?:(?![${unspaced}])[\\p{L}\\p{N}\\p{M}])+`, "gu");
const isUnspaced = new RegExp(`^[${unspaced}]`, "u");

/** Returns the words of a query, as the search reads them: letters and digits; everything else only separates. */
export function queryWords(query: string): readonly string[] {
  return [...new Set(Array.from(query.toLowerCase().matchAll(words), ([word]) => word))];
}

/**
 * Splits a snippet at the words of a query. The parts are plain text and, joined, the snippet with its white space
 * collapsed: nothing in it is ever read as markup. Marks that change the direction of text are left out, because the
 * cuts would separate them from what they close.
 */
export function snippetParts(snippet: string, query: string): readonly SnippetPart[] {
  const text = plainLine(snippet);
  const wanted = queryWords(query);
  if (wanted.length === 0) return text === "" ? [] : [{ text, isHit: false, start: 0 }];
  // The longest first, so that "tokens" is not cut after "token". Words contain no pattern syntax.
  const pattern = wanted
    .toSorted((a, b) => b.length - a.length)
    .map((word) => (isUnspaced.test(word) ? word : `(?<!(?![${unspaced}])[\\p{L}\\p{N}\\p{M}])${word}`))
    .join("|");
  const parts: SnippetPart[] = [];
  let end = 0;
  for (const { 0: hit, index } of text.matchAll(new RegExp(pattern, "giu"))) {
    if (index > end) parts.push({ text: text.slice(end, index), isHit: false, start: end });
    parts.push({ text: hit, isHit: true, start: index });
    end = index + hit.length;
  }
  if (end < text.length) parts.push({ text: text.slice(end), isHit: false, start: end });
  return parts;
}

/** Returns a text on one line, without marks of direction. */
export function plainLine(text: string): string {
  return text
    .replace(/[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}
