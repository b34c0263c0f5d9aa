/** Class of a UTF-16 code unit in the text estimate: the kinds, and above them the Latin letters. */
export const digit = 0;
/** A digit of another script, a fraction, a superscript. */
export const otherDigit = 1;
export const space = 2;
export const otherSpace = 3;
export const lineBreak = 4;
/** ASCII punctuation. */
export const mark = 5;
/** Any other character that is neither letter, digit nor space, and everything outside the basic plane. */
export const symbol = 6;
/** The first kind of letters. */
export const firstLetter = 7;
/** A letter of an alphabet other than Latin; {@link alphabetOf} returns which. */
export const alphabetLetter = 7;
export const hangulSyllable = 8;
/** A Han character or kana. */
export const cjkCharacter = 9;
/** A small Latin letter has this plus its number; a capital {@link latinCapital} more. */
export const latinLetter = 64;
export const latinCapital = 32;
/** Number of Latin letters: A to Z and five groups of other letters; 0 is the edge of a word. */
export const latinLetterCount = 32;

/** Alphabets with weights of their own. */
export const cyrillic = 0;
export const greek = 1;
const hebrew = 2;
export const arabic = 3;
export const devanagari = 4;
const thai = 5;
/** Bengali, Tamil and their neighbors in Unicode. */
const indic = 6;
/** Armenian and Georgian. */
export const caucasian = 7;
/** Khmer and Burmese. */
export const southeastAsian = 8;
/** Alphabets that tokenizers hardly know: several tokens per letter. */
export const rareAlphabet = 9;
export const alphabetCount = 10;

const plainLatin = 27;
const germanicLetters = "ÄÖÜäöüßÅåØøÆæ";
const germanicLatin = 28;
const extendedLatin = 29;
const turkicAndRomanianLetters = "ğĞıİşŞăĂțȚșȘţŢőŐűŰ";
const turkicLatin = 30;
const otherLatin = 31;

let kinds: Uint8Array | undefined;

/** Returns the kind of each UTF-16 code unit, from the constants above. Built on first use. */
export function characterKinds(): Uint8Array {
  kinds ??= makeKinds();
  return kinds;
}

function makeKinds(): Uint8Array {
  // The large ranges are filled at once: looking up Unicode's properties is slow.
  const table = new Uint8Array(0x10000).fill(symbol);
  table.fill(cjkCharacter, 0x3400, 0x4dc0).fill(cjkCharacter, 0x4e00, 0xa000);
  table.fill(alphabetLetter, 0xa000, 0xac00).fill(hangulSyllable, 0xac00, 0xd7b0);
  for (let code = 0; code < 0x3400; code++) table[code] = kindOf(code);
  for (let code = 0xf900; code < 0x10000; code++) table[code] = kindOf(code);
  return table;
}

const letter = /[\p{L}\p{M}]/u;
const number = /\p{N}/u;
const whiteSpace = /\s/u;

function kindOf(code: number): number {
  const character = String.fromCharCode(code);
  if (letter.test(character)) return letterKindOf(code, character);
  if (code === 0x20) return space;
  if (code === 0x0a || code === 0x0d) return lineBreak;
  if (whiteSpace.test(character)) return otherSpace;
  if (number.test(character)) return code < 0x80 ? digit : otherDigit;
  return code > 0x20 && code < 0x7f ? mark : symbol;
}

function letterKindOf(code: number, character: string): number {
  const script = letterScriptOf(code);
  if (script !== latinLetter) return script;
  const isSmall = character === character.toLowerCase();
  return latinLetter + latinNumberOf(code) + (isSmall ? 0 : latinCapital);
}

function letterScriptOf(code: number): number {
  if (code < 0x370 || (code >= 0x1e00 && code < 0x1f00)) return latinLetter;
  if (code < 0x2000) return alphabetLetter;
  // Marks that belong to symbols: the one around a keycap, variation selectors.
  if (code < 0x2100 || (code >= 0xfe00 && code < 0xfe10)) return symbol;
  if (code < 0x2e80) return alphabetLetter;
  if (code < 0x3130 || (code >= 0x31f0 && code < 0x3400)) return cjkCharacter;
  if (code < 0x3190) return hangulSyllable;
  if (code >= 0xf900 && code < 0xfb00) return cjkCharacter;
  if (code < 0xff00) return alphabetLetter;
  // The wide and narrow forms.
  if (code < 0xff66) return latinLetter;
  return code < 0xffa0 ? cjkCharacter : hangulSyllable;
}

function latinNumberOf(code: number): number {
  if (code < 0x80) return (code | 0x20) - 0x60;
  const character = String.fromCharCode(code);
  if (germanicLetters.includes(character)) return germanicLatin;
  if (turkicAndRomanianLetters.includes(character)) return turkicLatin;
  if (code < 0x100) return plainLatin;
  return code < 0x180 ? extendedLatin : otherLatin;
}

/** Returns the alphabet of a code unit of kind `alphabetLetter`. */
export function alphabetOf(code: number): number {
  if (code < 0x400) return greek;
  if (code < 0x530) return cyrillic;
  if (code < 0x700) return code < 0x590 ? caucasian : code < 0x600 ? hebrew : arabic;
  if (code >= 0x900 && code < 0xe80) return code < 0x980 ? devanagari : code < 0xe00 ? indic : thai;
  if (code >= 0x1000 && code < 0x1100) return code < 0x10a0 ? southeastAsian : caucasian;
  if (code >= 0x1780 && code < 0x1800) return southeastAsian;
  if (code >= 0x1f00 && code < 0x2000) return greek;
  return (code >= 0x750 && code < 0x780) || code >= 0xfb50 ? arabic : rareAlphabet;
}

/** Returns the small letter of a capital of the Greek or Cyrillic alphabet; any other letter itself. */
export function smallLetterOf(code: number): number {
  if (code >= 0x410 && code < 0x430) return code + 0x20;
  if (code >= 0x400 && code < 0x410) return code + 0x50;
  return code >= 0x391 && code <= 0x3a9 ? code + 0x20 : code;
}

/** Number of symbol groups: the cost of a symbol depends on its Unicode range. */
export const symbolGroupCount = 13;

/** Returns the group of a code unit of kind `symbol` that is not half of a pair. */
export function symbolGroupOf(code: number): number {
  if (code < 0x2070) return code < 0x2000 ? 0 : code < 0x2010 ? 1 : 2;
  if (code < 0x2600) return code < 0x2190 ? 3 : code < 0x2500 ? 4 : 5;
  if (code < 0x3000) return code < 0x2700 ? 6 : code < 0x27c0 ? 7 : 8;
  if (code < 0x3040) return 9;
  if (code >= 0xfe00 && code < 0xfe10) return 10;
  return code >= 0xff00 && code < 0xfff0 ? 11 : 12;
}

/** Number of emoji groups: 64 consecutive code points each; the last group is all the rest. */
export const emojiGroupCount = 45;

/** Returns the group of a character outside the basic plane. */
export function emojiGroupOf(codePoint: number): number {
  const group = (codePoint - 0x1f000) >> 6;
  return group >= 0 && group < emojiGroupCount - 1 ? group : emojiGroupCount - 1;
}
