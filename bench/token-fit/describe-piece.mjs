// The estimate's model, implemented a second time, for fitting: the weights that a piece of text uses. A
// feature is the name of a table and a place in it. The fast pass is
// packages/core/src/messages/tokens/text-tokens.ts; the fit checks that both give the same.
import * as script from "../../packages/core/dist/messages/tokens/script-classes.js";
import { alphabetPairOf } from "../../packages/core/dist/messages/tokens/text-tokens.js";
import {
  cjkClassCount,
  cjkClassOf,
  contextLevels,
  hangulClassOf,
  longestHangulWord,
  longestRun,
  longestWord,
} from "../../packages/core/dist/messages/tokens/token-weight-tables.js";

const characterKinds = script.characterKinds();
const kindOf = (code) => characterKinds[code];

/**
 * Tables whose rows are indexed by length, with the length of a row. They are fitted as steps from one length
 * to the next, so that a length that occurs in no text is like its neighbor.
 */
export const steppedTables = new Map([
  ["latinLength", longestWord + 1],
  ["leadLength", 8],
  ["latinContext", longestWord + 1],
  ["alphabetLength", longestWord + 1],
  ["hangulLength", longestHangulWord + 1],
  ["markRun", longestRun + 1],
  ["equalRun", longestRun + 1],
]);

/** Returns the features of the entry for a length: the steps up to it. */
function stepsTo(table, row, length) {
  const start = row * steppedTables.get(table);
  return Array.from({ length }, (_, i) => `${table} ${start + i + 1}`);
}

/**
 * Returns the parts of a piece, each `{ group, features, base, letters?, fixed? }`: it costs `fixed`, or at least 1
 * and else `base` plus its features. Parts of different groups share no weights; `letters` and `contextFeatures` are
 * set for words whose cost depends on the context.
 */
export function describePiece(piece, classes) {
  const kinds = unitKinds(piece);
  if (kinds.every(isSpace) || kinds.every((kind) => kind === script.digit)) return [{ fixed: 1 }];
  if (kinds.every((kind) => kind === script.otherDigit)) return [{ fixed: kinds.length }];
  return kinds.some(isLetter) ? describeWord(piece, classes) : [describeSymbols(piece)];
}

function unitKinds(piece) {
  const kinds = [];
  for (let at = 0; at < piece.length; at++) kinds.push(kindOf(piece.charCodeAt(at)));
  return kinds;
}

function isSpace(kind) {
  return kind === script.space || kind === script.lineBreak || kind === script.otherSpace;
}

function isLetter(kind) {
  return kind >= script.firstLetter;
}

function describeSymbols(piece) {
  const features = [];
  const marks = [];
  for (const character of piece) {
    const code = character.charCodeAt(0);
    const kind = kindOf(code);
    if (kind === script.mark) marks.push(code);
    else if (kind === script.symbol) features.push(symbolFeature(character, code));
  }
  const isEqual = marks.length > 1 && marks.every((mark) => mark === marks[0]);
  for (const mark of isEqual ? marks.slice(0, 1) : marks.slice(0, longestRun)) {
    features.push(`markCharacter ${mark}`);
  }
  const table = isEqual ? "equalRun" : "markRun";
  features.push(...stepsTo(table, 0, Math.min(marks.length, longestRun)));
  for (let i = longestRun; i < marks.length; i++) features.push(`${table}Long 0`);
  if (piece.startsWith(" ")) features.push(`markSpace ${Math.min(marks.length, 3)}`);
  if (/[\r\n]/.test(piece)) features.push("markBreak 0");
  return { group: "symbols", features, base: 0 };
}

function symbolFeature(character, code) {
  return character.length === 2
    ? `emoji ${script.emojiGroupOf(character.codePointAt(0))}`
    : `symbol ${script.symbolGroupOf(code)}`;
}

function describeWord(piece, classes) {
  const kinds = unitKinds(piece);
  const parts = [];
  let lead = "";
  let at = 0;
  if (!isLetter(kinds[0])) {
    // A surrogate pair at the start is a separate symbol.
    if (kinds[1] === script.symbol) return [describeSymbols(piece)];
    lead = piece[0];
    at = 1;
  }
  while (at < piece.length) {
    const end = endOfRun(piece, kinds, at);
    if (end === at) {
      // Marks that Unicode classifies as letters, such as the one that turns a sign into an emoji.
      let last = at;
      while (last < piece.length && !isLetter(kinds[last])) last++;
      if (/^'[A-Za-z]+$/.test(piece.slice(at))) break;
      parts.push(describeSymbols(lead + piece.slice(at, last)));
      at = last;
    } else {
      const suffix = /^'[A-Za-z]{1,2}$/.test(piece.slice(end));
      parts.push(describeRun(piece.slice(at, end), kinds[at], lead, suffix, classes));
      at = end;
    }
    lead = "";
  }
  return parts;
}

/** Returns the end of the letters of one script that start here. */
function endOfRun(piece, kinds, start) {
  const familyAt = (at) => {
    const kind = kinds[at];
    if (!isLetter(kind)) return undefined;
    if (kind > script.latinLetter) return "latin";
    return kind === script.alphabetLetter ? `alphabet ${script.alphabetOf(piece.charCodeAt(at))}` : kind;
  };
  const family = familyAt(start);
  let end = start;
  while (end < piece.length && family !== undefined && familyAt(end) === family) end++;
  return end;
}

function describeRun(word, kind, lead, suffix, classes) {
  if (kind > script.latinLetter) return describeLatin(word, lead, suffix);
  if (kind === script.alphabetLetter) return describeAlphabet(word, lead);
  return kind === script.hangulSyllable
    ? describeHangul(word, lead, classes)
    : describeCjk(word, lead, classes);
}

function describeLatin(word, lead, suffix) {
  const features = [];
  const letters = word.length;
  const length = Math.min(letters, longestWord);
  let capitals = 0;
  let previous = 0;
  for (let at = 0; at < letters; at++) {
    const kind = kindOf(word.charCodeAt(at));
    if (kind >= script.latinLetter + script.latinCapital) capitals++;
    if (at >= longestWord) continue;
    const index = kind & (script.latinLetterCount - 1);
    features.push(`latinPairs ${previous * script.latinLetterCount + index}`);
    previous = index;
  }
  if (letters === length) features.push(`latinPairs ${previous * script.latinLetterCount}`);
  features.push(...stepsTo("latinLength", Math.min(capitals, 2), length));
  for (let i = length; i < letters; i++) features.push("latinLong 0");
  const leadKind = lead === "" ? 0 : lead === " " ? 1 : 2;
  features.push(...stepsTo("leadLength", leadKind, Math.min(letters, 7)));
  if (leadKind === 2) {
    const code = lead.charCodeAt(0);
    features.push(code < 0x80 ? `leadMark ${code}` : "leadSymbol 0");
  }
  if (suffix) features.push("suffix 0");
  const contextFeatures = (level) => stepsTo("latinContext", level, length);
  return { group: "latin", features, base: 1, letters, contextFeatures };
}

function describeAlphabet(word, lead) {
  const alphabet = script.alphabetOf(word.charCodeAt(0));
  const features = [];
  const letters = word.length;
  const length = Math.min(letters, longestWord);
  let previous = 0;
  for (let at = 0; at < length; at++) {
    const letter = script.smallLetterOf(word.charCodeAt(at));
    if (previous > 0 && hasPairs(alphabet)) {
      features.push(`alphabetPairs${alphabet} ${alphabetPairOf(previous, letter)}`);
    }
    previous = letter;
  }
  const first = word.charCodeAt(0);
  if (script.smallLetterOf(first) !== first) features.push(`alphabetCapital ${alphabet}`);
  features.push(...stepsTo("alphabetLength", alphabet, length));
  for (let i = length; i < letters; i++) features.push(`alphabetLong ${alphabet}`);
  if (lead !== " ") features.push(`alphabetLead ${alphabet * 2 + (lead === "" ? 0 : 1)}`);
  const contextFeatures = (level) =>
    hasPairs(alphabet) ? [`alphabetContext ${alphabet * contextLevels + level}`] : [];
  return { group: `alphabet ${alphabet}`, features, base: 1, letters, contextFeatures };
}

/** Returns true for the alphabets with enough text to fit pairs of letters. */
export function hasPairs(alphabet) {
  return [script.cyrillic, script.greek, script.arabic, script.devanagari].includes(alphabet);
}

function describeHangul(word, lead, { hangulClasses }) {
  const features = stepsTo("hangulLength", 0, Math.min(word.length, longestHangulWord));
  if (lead !== "" && lead !== " ") features.push("hangulLead 0");
  for (let at = 0; at < word.length; at++) {
    const syllableClass = hangulClassOf(hangulClasses, word.charCodeAt(at));
    features.push(`${at === 0 ? "hangulFirst" : "hangulRest"} ${syllableClass}`);
  }
  return { group: "hangul", features, base: 1 };
}

function describeCjk(word, lead, { cjkClasses }) {
  const features = [];
  let previous = -1;
  for (let at = 0; at < word.length; at++) {
    const characterClass = cjkClassOf(cjkClasses, word.charCodeAt(at));
    features.push(`cjkCharacter ${characterClass}`);
    features.push(
      previous < 0 ? `cjkFirst ${characterClass}` : `cjkPair ${previous * cjkClassCount + characterClass}`,
    );
    previous = characterClass;
  }
  if (lead !== "") features.push(`cjkLead ${lead === " " ? 0 : 1}`);
  // Long runs deviate more from their expected cost, so they get less weight.
  return { group: "cjk", features, base: 0, weight: 1 / Math.max(1, word.length / 2) };
}
