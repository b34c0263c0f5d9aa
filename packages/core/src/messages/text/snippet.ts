/** How many characters stand on each side of the place. */
const margin = 60;
/** How far a cut moves towards the place, to fall between two words. */
const slack = 24;

/** A piece of a text around a place in it, cut between words where that is near, and marked where it was cut. */
export function snippetAround(text: string, at: number): string {
  let from = Math.max(0, at - margin);
  let to = Math.min(text.length, at + margin);
  if (from > 0) from = startOfWord(text, from, Math.min(at, from + slack));
  if (to < text.length) to = endOfWord(text, to, Math.max(at + 1, to - slack));
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`;
}

/** The first beginning of a word in this stretch, else its beginning, which never parts a character. */
function startOfWord(text: string, from: number, latest: number): number {
  for (let place = from; place <= latest; place += 1) {
    if (isSpace(text, place - 1) && !isSpace(text, place)) return place;
  }
  return isLowSurrogate(text, from) ? from + 1 : from;
}

/** The last end of a word in this stretch, else its end, which never parts a character. */
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
