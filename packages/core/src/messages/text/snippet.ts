import { endsInCode, withoutMarks } from "./markdown-marks.js";

/** Number of characters on each side of the place. */
const margin = 60;
/** Maximum distance that a cut moves towards the place, to fall between two words. */
const slack = 24;
/** Number of characters on each side of the place that are read: some of them are marks, which are left out. */
const reach = 300;

/**
 * Returns a piece of a text around a place in it, cut between words if one ends nearby, and marked where it was cut.
 * It is plain text: marks of markdown are left out, but never the character at the place.
 */
export function snippetAround(text: string, at: number): string {
  const start = Math.max(0, at - reach);
  const end = Math.min(text.length, at + reach);
  const plain = withoutMarks(text.slice(start, end), at - start, {
    isLine: start === 0 || text.charAt(start - 1) === "\n",
    isCode: endsInCode(text.slice(0, start)),
  });
  return cutAround(plain.text, plain.at, { before: start > 0, behind: end < text.length });
}

/** Cuts a piece out of a text. `more` is set if there is more before or after it anyway. */
function cutAround(
  text: string,
  at: number,
  more: { readonly before: boolean; readonly behind: boolean },
): string {
  let from = Math.max(0, at - margin);
  let to = Math.min(text.length, at + margin);
  if (from > 0 || more.before) from = startOfWord(text, from, Math.min(at, from + slack));
  if (to < text.length || more.behind) to = endOfWord(text, to, Math.max(at + 1, to - slack));
  const isCutBefore = from > 0 || more.before;
  const isCutBehind = to < text.length || more.behind;
  return `${isCutBefore ? "…" : ""}${text.slice(from, to)}${isCutBehind ? "…" : ""}`;
}

/** Returns the first beginning of a word in this stretch, or its beginning, which never splits a character. */
function startOfWord(text: string, from: number, latest: number): number {
  for (let place = from; place <= latest; place += 1) {
    if (isSpace(text, place - 1) && !isSpace(text, place)) return place;
  }
  return isLowSurrogate(text, from) ? from + 1 : from;
}

/** Returns the last end of a word in this stretch, or its end, which never splits a character. */
function endOfWord(text: string, to: number, earliest: number): number {
  for (let place = to; place >= earliest; place -= 1) {
    if (isSpace(text, place) && !isSpace(text, place - 1)) return place;
  }
  return isLowSurrogate(text, to) ? to - 1 : to;
}

function isSpace(text: string, place: number): boolean {
  return /\s/.test(text.charAt(place));
}

function isLowSurrogate(text: string, place: number): boolean {
  const unit = text.charCodeAt(place);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
