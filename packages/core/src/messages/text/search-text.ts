import type { MessageContentPart } from "../part.js";
import { firstBytes } from "./first-bytes.js";

/** UTF-8 bytes of a message's text that are searched. Text after them is not found. */
export const searchedBytes = 100_000;

/** UTF-16 code units of a word that count. Longer words with the same beginning are the same word. */
const longestTerm = 64;

/**
 * Scripts that are written without spaces between words. Chinese, Japanese and Korean matter most; the others have
 * the same problem and the same solution. The kana signs at the end belong to no script: the long vowel, and the
 * voicing marks.
 */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc\uff70\u3099\u309a\uff9e\uff9f]/u;

/** Letters, digits and the marks that belong to them. */
const inWord = /[\p{L}\p{N}\p{M}]/u;

/** A term of a text, and its start. */
export interface SearchTerm {
  readonly term: string;
  readonly start: number;
}

/** A term that a query asks for. */
export interface WantedTerm {
  readonly term: string;
  /** True if terms that begin with it match. */
  readonly isPrefix: boolean;
}

/** Returns the text of a message that can be searched: its text parts, kept apart, up to `searchedBytes`. */
export function searchableText(message: { readonly content: readonly MessageContentPart[] }): string {
  const texts: string[] = [];
  for (const part of message.content) if (part.type === "text") texts.push(part.text);
  return withinSearchedBytes(texts.join(" "));
}

/** Returns the beginning of a text that is searched. */
export function withinSearchedBytes(text: string): string {
  return firstBytes(text, searchedBytes);
}

/**
 * Yields the terms of a text, in order: words, regardless of case and of how characters are composed. A stretch of an
 * unspaced script gives its pairs of neighboring characters, and its last character alone: each character then begins
 * a term, so that a single one is found as a prefix. The index and the queries both take their terms from here.
 */
export function* searchTerms(text: string): Generator<SearchTerm, void, undefined> {
  for (const run of runsOf(text)) {
    const parts = foldedRuns(run);
    for (const { text: part, isStretch, start } of parts) {
      if (!isStretch) yield { term: cut(part), start };
      else yield* pairs(part, start, part === run.text);
    }
  }
}

/**
 * Returns the terms of a query, each once. All of them have to be in a text. The last word may be unfinished: it is a
 * prefix, unless something follows it, even a space.
 */
export function parseSearch(query: string): readonly WantedTerm[] {
  const wanted = new Map<string, WantedTerm>();
  const want = (term: string, isPrefix: boolean) => {
    // The whole word is stricter than its beginning.
    if (wanted.get(term)?.isPrefix !== false) wanted.set(term, { term, isPrefix });
  };
  for (const run of runsOf(query)) {
    const isLast = run.start + run.text.length === query.length;
    const parts = foldedRuns(run);
    for (const [place, { text, isStretch }] of parts.entries()) {
      const characters = isStretch ? [...text] : [];
      if (!isStretch) want(cut(text), isLast && place === parts.length - 1);
      else if (characters.length === 1) want(text, true);
      else for (const [at, next] of characters.slice(1).entries()) want(`${characters[at]}${next}`, false);
    }
  }
  return [...wanted.values()];
}

/** Returns where the first of the terms begins in a text that has all of them; undefined if one is missing. */
export function findTerms(text: string, wanted: readonly WantedTerm[]): number | undefined {
  const missing = new Set(wanted);
  const prefixes = wanted.filter(({ isPrefix }) => isPrefix);
  const words = new Map(wanted.filter(({ isPrefix }) => !isPrefix).map((each) => [each.term, each]));
  let first: number | undefined;
  for (const { term, start } of searchTerms(text)) {
    const word = words.get(term);
    let isHit = word !== undefined;
    if (word !== undefined) missing.delete(word);
    for (const prefix of prefixes) {
      if (!term.startsWith(prefix.term)) continue;
      missing.delete(prefix);
      isHit = true;
    }
    if (isHit) first ??= start;
    if (missing.size === 0 && first !== undefined) return first;
  }
  return undefined;
}

/** A word, or a stretch of a script without spaces. */
interface Run {
  readonly text: string;
  readonly isStretch: boolean;
  readonly start: number;
}

const separator = 1;
const wordCharacter = 2;
const stretchCharacter = 3;

/**
 * The kinds of code units that have been needed so far. Looking up Unicode's properties for every one takes too long.
 */
const kinds = new Uint8Array(0x10000);

function kindAt(text: string, place: number): number {
  const unit = text.charCodeAt(place);
  const known = kinds[unit];
  if (known !== undefined && known > 0) return known;
  const character = String.fromCodePoint(text.codePointAt(place) ?? 0);
  const kind = unspaced.test(character)
    ? stretchCharacter
    : inWord.test(character)
      ? wordCharacter
      : separator;
  if (character.length === 1 && (unit < 0xd800 || unit > 0xdfff)) kinds[unit] = kind;
  return kind;
}

function* runsOf(text: string): Generator<Run, void, undefined> {
  let start = 0;
  let kind = separator;
  for (let place = 0; place <= text.length; ) {
    const next = place === text.length ? separator : kindAt(text, place);
    if (next !== kind) {
      if (kind !== separator) {
        yield { text: text.slice(start, place), isStretch: kind === stretchCharacter, start };
      }
      start = place;
      kind = next;
    }
    const unit = text.charCodeAt(place);
    place += next !== separator && unit >= 0xd800 && unit <= 0xdbff ? 2 : 1;
  }
}

/** Returns a run in the form in which it is compared. Folding may split it: "¼" is a one and a four. */
function foldedRuns(run: Run): readonly Run[] {
  const folded = fold(run.text);
  if (folded === run.text) return [run];
  return Array.from(runsOf(folded), ({ text, isStretch }) => ({ text, isStretch, start: run.start }));
}

function* pairs(stretch: string, start: number, isPlaced: boolean): Generator<SearchTerm, void, undefined> {
  let previous = "";
  let place = start;
  for (const character of stretch) {
    if (previous !== "") {
      yield { term: previous + character, start: place };
      if (isPlaced) place += previous.length;
    }
    previous = character;
  }
  yield { term: previous, start: place };
}

/** Folds a run. Folding twice changes nothing. */
function fold(run: string): string {
  // The case of nearly all words.
  if (/^[a-z0-9]+$/.test(run)) return run;
  // Lower case may split what was composed, and a sigma has another form at the end of a word.
  return run.normalize("NFKC").toLowerCase().normalize("NFKC").replaceAll("ς", "σ");
}

function cut(term: string): string {
  if (term.length <= longestTerm) return term;
  const last = term.charCodeAt(longestTerm - 1);
  return term.slice(0, last >= 0xd800 && last <= 0xdbff ? longestTerm - 1 : longestTerm);
}
