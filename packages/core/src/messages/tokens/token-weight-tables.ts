import { alphabetCount, latinLetterCount } from "./script-classes.js";

/** Longest word with an entry of its own; each letter more costs the same, whichever it is. */
export const longestWord = 15;
/** From this length on, syllables of Hangul cost by their class alone. */
export const longestHangulWord = 7;
/** Longest run of punctuation with an entry of its own. */
export const longestRun = 11;
/** Number of levels that distinguish the language of a text by its words so far. */
export const contextLevels = 8;
/** Number of weights that the pairs of letters of an alphabet other than Latin share. */
export const alphabetPairCount = 512;
/**
 * Number of classes of Han characters and Hangul syllables, by how readily they join their neighbors in one token.
 */
const hanLevels = 5;
const kanaLevels = 3;
/** Han characters, then hiragana, then katakana. */
export const cjkClassCount = hanLevels + 2 * kanaLevels;
const firstCjkCode = 0x3000;
const lastCjkCode = 0x9fff;
const firstHangulCode = 0xac00;
const lastHangulCode = 0xd7af;

/**
 * The weights of the text estimate in their written form: whole hundredths of a token; strings hold one weight per
 * character. `bench/tune-token-counter.mjs` fits them.
 */
export interface TokenWeights {
  /** Cost of a word of n letters beyond 1: small letters, one capital in front, more capitals. */
  readonly latinLength: readonly (readonly number[])[];
  readonly latinLong: number;
  /** Cost that its length adds with nothing, a space, or another character in front. */
  readonly leadLength: readonly (readonly number[])[];
  /** Cost that this other character adds. */
  readonly leadMark: Readonly<Record<string, number>>;
  readonly leadSymbol: number;
  /** `'s`, `'t`, `'re` and the like after a word. */
  readonly suffix: number;
  /** Each pair of neighboring letters, and each letter at an edge. */
  readonly latinPairs: string;
  /** By level of context, then by length. */
  readonly latinContext: readonly (readonly number[])[];
  /** The other alphabets, in the order of their numbers. */
  readonly alphabetLength: readonly (readonly number[])[];
  readonly alphabetLong: readonly number[];
  /** With nothing, or with something other than a space, in front. */
  readonly alphabetLead: readonly (readonly number[])[];
  readonly alphabetCapital: readonly number[];
  readonly alphabetPairs: readonly string[];
  readonly alphabetContext: readonly (readonly number[])[];
  readonly hangulLength: readonly number[];
  readonly hangulLead: number;
  /** By class of the syllable: the first of a word, the others. */
  readonly hangulFirst: readonly number[];
  readonly hangulRest: readonly number[];
  readonly cjkCharacter: readonly number[];
  readonly cjkPair: readonly (readonly number[])[];
  readonly cjkFirst: readonly number[];
  /** With a space, or with another character, in front. */
  readonly cjkLead: readonly number[];
  /** A run of n different, or of n equal, punctuation characters. */
  readonly markRun: readonly number[];
  readonly markRunLong: number;
  readonly equalRun: readonly number[];
  readonly equalRunLong: number;
  /** A space in front of a run of 0, 1, 2, more. */
  readonly markSpace: readonly number[];
  /** Line breaks after it. */
  readonly markBreak: number;
  readonly markCharacter: Readonly<Record<string, number>>;
  readonly symbol: readonly number[];
  readonly emoji: readonly number[];
  /** Members of the classes 1, 2, ...; all other characters are of class 0. */
  readonly hanClasses: readonly string[];
  readonly kanaClasses: readonly string[];
  readonly hangulClasses: readonly string[];
}

/** The characters that encode one weight each in a string of weights, from the smallest to the largest. */
const weightDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const zeroDigit = 32;
const digitsPerToken = 40;

/** Returns the character of the weight that is nearest to a number of tokens. */
export function weightDigitOf(tokens: number): string {
  const place = Math.round(tokens * digitsPerToken) + zeroDigit;
  return weightDigits.charAt(Math.min(weightDigits.length - 1, Math.max(0, place)));
}

/** The weights as the estimate uses them: all in hundredths of a token. */
export interface WeightTables {
  readonly latinLength: Int16Array;
  readonly latinLong: number;
  readonly leadLength: Int16Array;
  readonly leadMark: Int16Array;
  readonly leadSymbol: number;
  readonly suffix: number;
  readonly latinPairs: Int16Array;
  readonly latinContext: Int16Array;
  readonly alphabetLength: Int16Array;
  readonly alphabetLong: Int16Array;
  readonly alphabetLead: Int16Array;
  readonly alphabetCapital: Int16Array;
  readonly alphabetPairs: Int16Array;
  readonly alphabetContext: Int16Array;
  readonly hangulLength: Int16Array;
  readonly hangulLead: number;
  readonly hangulFirst: Int16Array;
  readonly hangulRest: Int16Array;
  readonly cjkCharacter: Int16Array;
  readonly cjkPair: Int16Array;
  readonly cjkFirst: Int16Array;
  readonly cjkLead: Int16Array;
  readonly markRun: Int16Array;
  readonly markRunLong: number;
  readonly equalRun: Int16Array;
  readonly equalRunLong: number;
  readonly markSpace: Int16Array;
  readonly markBreak: number;
  readonly markCharacter: Int16Array;
  readonly symbol: Int16Array;
  readonly emoji: Int16Array;
  readonly cjkClasses: Uint8Array;
  readonly hangulClasses: Uint8Array;
}

/** Unpacks weights. */
export function weightTables(weights: TokenWeights): WeightTables {
  return {
    latinLength: rows(weights.latinLength),
    latinLong: weights.latinLong,
    leadLength: rows(weights.leadLength),
    leadMark: byCode(weights.leadMark),
    leadSymbol: weights.leadSymbol,
    suffix: weights.suffix,
    latinPairs: digits(weights.latinPairs, latinLetterCount * latinLetterCount),
    latinContext: rows(weights.latinContext),
    alphabetLength: rows(weights.alphabetLength),
    alphabetLong: row(weights.alphabetLong),
    alphabetLead: rows(weights.alphabetLead),
    alphabetCapital: row(weights.alphabetCapital),
    alphabetPairs: digits(
      weights.alphabetPairs.map((pairs) => pairs.padEnd(alphabetPairCount, weightDigitOf(0))).join(""),
      alphabetCount * alphabetPairCount,
    ),
    alphabetContext: rows(weights.alphabetContext),
    hangulLength: row(weights.hangulLength),
    hangulLead: weights.hangulLead,
    hangulFirst: row(weights.hangulFirst),
    hangulRest: row(weights.hangulRest),
    cjkCharacter: row(weights.cjkCharacter),
    cjkPair: rows(weights.cjkPair),
    cjkFirst: row(weights.cjkFirst),
    cjkLead: row(weights.cjkLead),
    markRun: row(weights.markRun),
    markRunLong: weights.markRunLong,
    equalRun: row(weights.equalRun),
    equalRunLong: weights.equalRunLong,
    markSpace: row(weights.markSpace),
    markBreak: weights.markBreak,
    markCharacter: byCode(weights.markCharacter),
    symbol: row(weights.symbol),
    emoji: row(weights.emoji),
    cjkClasses: cjkClasses(weights),
    hangulClasses: hangulClasses(weights),
  };
}

/** Returns the class of a Han character or kana. */
export function cjkClassOf(classes: Uint8Array, code: number): number {
  return code <= lastCjkCode
    ? (classes[code - firstCjkCode] as number)
    : isKatakana(code)
      ? hanLevels + kanaLevels
      : 0;
}

/** Returns the class of a Hangul syllable. */
export function hangulClassOf(classes: Uint8Array, code: number): number {
  return code >= firstHangulCode && code <= lastHangulCode ? (classes[code - firstHangulCode] as number) : 0;
}

function cjkClasses(weights: TokenWeights): Uint8Array {
  const classes = new Uint8Array(lastCjkCode - firstCjkCode + 1);
  for (let code = 0x3040; code < 0x3200; code++) {
    classes[code - firstCjkCode] = isKatakana(code) ? hanLevels + kanaLevels : hanLevels;
  }
  for (const [index, members] of weights.hanClasses.entries()) {
    for (const member of members) classes[member.charCodeAt(0) - firstCjkCode] = index + 1;
  }
  for (const [index, members] of weights.kanaClasses.entries()) {
    for (const member of members) {
      const code = member.charCodeAt(0);
      classes[code - firstCjkCode] = hanLevels + (isKatakana(code) ? kanaLevels : 0) + index + 1;
    }
  }
  return classes;
}

function isKatakana(code: number): boolean {
  return (code >= 0x30a0 && code < 0x3200) || (code >= 0xff66 && code <= 0xff9f);
}

function hangulClasses(weights: TokenWeights): Uint8Array {
  const classes = new Uint8Array(lastHangulCode - firstHangulCode + 1);
  for (const [index, members] of weights.hangulClasses.entries()) {
    for (const member of members) classes[member.charCodeAt(0) - firstHangulCode] = index + 1;
  }
  return classes;
}

function row(values: readonly number[]): Int16Array {
  return Int16Array.from(values);
}

function rows(values: readonly (readonly number[])[]): Int16Array {
  return row(values.flat());
}

function byCode(values: Readonly<Record<string, number>>): Int16Array {
  const table = new Int16Array(0x80);
  for (const [character, value] of Object.entries(values)) table[character.charCodeAt(0)] = value;
  return table;
}

function digits(text: string, size: number): Int16Array {
  const values = new Int16Array(size);
  for (let i = 0; i < size; i++) {
    values[i] = Math.round(((weightDigits.indexOf(text.charAt(i)) - zeroDigit) * 100) / digitsPerToken);
  }
  return values;
}
