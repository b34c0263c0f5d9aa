import {
  alphabetLetter,
  alphabetOf,
  characterKinds,
  cjkCharacter,
  digit,
  emojiGroupOf,
  firstLetter,
  hangulSyllable,
  latinCapital,
  latinLetter,
  latinLetterCount,
  lineBreak,
  mark,
  otherDigit,
  smallLetterOf,
  space,
  symbol,
  symbolGroupOf,
} from "./script-classes.js";
import {
  alphabetPairCount,
  cjkClassCount,
  cjkClassOf,
  contextLevels,
  hangulClassOf,
  longestHangulWord,
  longestRun,
  longestWord,
  type TokenWeights,
  type WeightTables,
  weightTables,
} from "./token-weight-tables.js";
import { tokenWeights } from "./token-weights.js";

/**
 * Estimates the tokens of a text in one pass over its characters; the time is linear in its length. A whole number, 0
 * for the empty text only. Accepts any string, lone surrogates included.
 *
 * The pass cuts the text where current byte-pair tokenizers cut it before any lookup: words with the character in
 * front of them, up to three digits, runs of punctuation, white space. Each piece then costs at least one token, and
 * more by its script, its length and the pairs of letters in it. The words of a text shift the cost of those that
 * follow: a long word is one token in English and three in Polish, and few words alone reveal which of the two they
 * are.
 */
export function countTextTokens(text: string): number {
  countByDefault ??= createTextCounter(tokenWeights);
  return countByDefault(text);
}

let countByDefault: ((text: string) => number) | undefined;

/** Creates an estimate like {@link countTextTokens} with other weights. For fitting them. */
export function createTextCounter(weights: TokenWeights): (text: string) => number {
  const tables = weightTables(weights);
  return (text) =>
    text.length === 0 ? 0 : Math.max(1, Math.round(new TextPass(text, tables).run() / oneToken));
}

/** Costs are summed up in hundredths of a token. */
const oneToken = 100;
/** Tokens hold white space up to about these lengths: with line breaks, and without. */
const longestBreaks = 16;
const longestSpaces = 64;
/** Share of the context that remains after one word. */
const contextMemory = 0.97;
/** English prose; every text starts with it. */
export const initialContext = 1.5;
/** The cost of a letter, in hundredths, by which the levels of context differ. */
const contextStep = 1.7;
/** Shorter words do not reveal the language. */
const shortestRevealingWord = 3;

/** Character in front of a word that is cut with it. */
const noLead = -1;

class TextPass {
  readonly #text: string;
  readonly #weights: WeightTables;
  readonly #kinds = characterKinds();
  #at = 0;
  #tokens = 0;
  #context = initialContext;
  #contextLevel = 0;

  constructor(text: string, weights: WeightTables) {
    this.#text = text;
    this.#weights = weights;
  }

  run(): number {
    const { length } = this.#text;
    while (this.#at < length) {
      const kind = this.#kindAt(this.#at);
      if (kind >= firstLetter) this.#word(kind, noLead);
      else if (kind >= mark) this.#symbols(false);
      else if (kind === digit) this.#digits();
      else if (kind === otherDigit) {
        this.#at++;
        this.#tokens += oneToken;
      } else this.#whiteSpace();
    }
    return this.#tokens;
  }

  /** Returns the kind of a code unit; after the end of the text, that of a line break, which joins nothing. */
  #kindAt(at: number): number {
    return at < this.#text.length ? (this.#kinds[this.#text.charCodeAt(at)] as number) : lineBreak;
  }

  #digits(): void {
    const start = this.#at;
    while (this.#kindAt(this.#at) === digit) this.#at++;
    this.#tokens += oneToken * Math.ceil((this.#at - start) / 3);
  }

  /**
   * Reads white space: up to the last line break is one piece, then all but the last character, and that one joins
   * what follows.
   */
  #whiteSpace(): void {
    const text = this.#text;
    const kinds = this.#kinds;
    const start = this.#at;
    let end = start;
    let rest = start;
    let next: number = lineBreak;
    for (; end < text.length; end++) {
      next = kinds[text.charCodeAt(end)] as number;
      if (next === lineBreak) rest = end + 1;
      else if (next > lineBreak || next < space) break;
    }
    if (rest > start) this.#tokens += oneToken * Math.ceil((rest - start) / longestBreaks);
    this.#at = end;
    if (rest === end) return;
    if (end === text.length) {
      this.#tokens += oneToken * Math.ceil((end - rest) / longestSpaces);
      return;
    }
    if (end - rest > 1) this.#tokens += oneToken * Math.ceil((end - rest - 1) / longestSpaces);
    const last = text.charCodeAt(end - 1);
    if (next >= firstLetter) this.#word(next, last);
    else if (next >= mark && last === 0x20) this.#symbols(true);
    else this.#tokens += oneToken;
  }

  #symbols(afterSpace: boolean): void {
    const text = this.#text;
    const kinds = this.#kinds;
    const weights = this.#weights;
    const first = text.charCodeAt(this.#at);
    if (!afterSpace && !isSurrogate(first)) {
      const next = this.#kindAt(this.#at + 1);
      if (next >= firstLetter) {
        this.#at++;
        this.#word(next, first);
        return;
      }
    }
    let cost = 0;
    let markCost = 0;
    let marks = 0;
    let firstMark = 0;
    let allEqual = true;
    for (; this.#at < text.length; this.#at++) {
      const code = text.charCodeAt(this.#at);
      const kind = kinds[code] as number;
      if (kind === mark) {
        if (marks === 0) firstMark = code;
        else if (code !== firstMark) allEqual = false;
        marks++;
        if (marks <= longestRun) markCost += weights.markCharacter[code] as number;
      } else if (kind === symbol) cost += this.#symbolCost(code);
      else break;
    }
    if (marks > 0) {
      const length = Math.min(marks, longestRun);
      const more = marks - length;
      // A line of dashes is few tokens, however long; its character's cost counts once.
      cost +=
        allEqual && marks > 1
          ? (weights.markCharacter[firstMark] as number) +
            (weights.equalRun[length] as number) +
            more * weights.equalRunLong
          : markCost + (weights.markRun[length] as number) + more * weights.markRunLong;
    }
    if (afterSpace) cost += weights.markSpace[Math.min(marks, 3)] as number;
    if (this.#kindAt(this.#at) === lineBreak && this.#at < text.length) {
      cost += weights.markBreak;
      while (this.#at < text.length && isBreakOrSlash(text.charCodeAt(this.#at))) this.#at++;
    }
    this.#tokens += Math.max(oneToken, cost);
  }

  /** Returns the cost of a symbol. The second half of a pair is skipped; a half alone is like any rare symbol. */
  #symbolCost(code: number): number {
    const { symbol: symbols, emoji } = this.#weights;
    if ((code & 0xfc00) === 0xd800 && this.#at + 1 < this.#text.length) {
      const low = this.#text.charCodeAt(this.#at + 1);
      if ((low & 0xfc00) === 0xdc00) {
        this.#at++;
        return emoji[emojiGroupOf((code - 0xd800) * 0x400 + low - 0xdc00 + 0x10000)] as number;
      }
    }
    return symbols[symbolGroupOf(code)] as number;
  }

  /** Reads a run of letters, script by script. The character in front belongs to the first of them. */
  #word(firstKind: number, lead: number): void {
    let kind = firstKind;
    let leadOfRun = lead;
    while (kind >= firstLetter) {
      if (kind > latinLetter) this.#latinWord(leadOfRun);
      else if (kind === alphabetLetter) this.#alphabetWord(leadOfRun);
      else if (kind === hangulSyllable) this.#hangulWord(leadOfRun);
      else this.#cjkRun(leadOfRun);
      kind = this.#kindAt(this.#at);
      leadOfRun = noLead;
    }
  }

  /** Reads capitals and then small letters: `HTTPServer` is one word, `camelCase` two. */
  #latinWord(lead: number): void {
    const text = this.#text;
    const weights = this.#weights;
    const kinds = this.#kinds;
    const pairs = weights.latinPairs;
    const start = this.#at;
    let at = start;
    let capitals = 0;
    let previous = 0;
    let cost = 0;
    for (; at < text.length; at++) {
      const kind = kinds[text.charCodeAt(at)] as number;
      if (kind < latinLetter) break;
      if (kind >= latinLetter + latinCapital) {
        if (capitals < at - start) break;
        capitals++;
      }
      if (at - start >= longestWord) continue;
      const index = kind & (latinLetterCount - 1);
      cost += pairs[previous * latinLetterCount + index] as number;
      previous = index;
    }
    const letters = at - start;
    const length = Math.min(letters, longestWord);
    if (letters === length) cost += pairs[previous * latinLetterCount] as number;
    const shape = Math.min(capitals, 2);
    cost += weights.latinLength[shape * (longestWord + 1) + length] as number;
    cost += (letters - length) * weights.latinLong;
    cost += this.#latinLeadCost(lead, letters);
    const suffix = suffixLength(text, at);
    if (suffix > 0) cost += weights.suffix;
    this.#at = at + suffix;
    const context = weights.latinContext[this.#contextLevel * (longestWord + 1) + length] as number;
    this.#tokens += Math.max(oneToken, oneToken + cost + context);
    this.#learnContext(cost, letters);
  }

  #latinLeadCost(lead: number, letters: number): number {
    const weights = this.#weights;
    const length = Math.min(letters, 7);
    if (lead === noLead) return weights.leadLength[length] as number;
    if (lead === 0x20) return weights.leadLength[8 + length] as number;
    const own = lead < 0x80 ? (weights.leadMark[lead] as number) : weights.leadSymbol;
    return own + (weights.leadLength[16 + length] as number);
  }

  #alphabetWord(lead: number): void {
    const text = this.#text;
    const weights = this.#weights;
    const kinds = this.#kinds;
    const start = this.#at;
    const first = text.charCodeAt(start);
    const alphabet = alphabetOf(first);
    const pairs = alphabet * alphabetPairCount;
    let at = start;
    let previous = 0;
    let cost = smallLetterOf(first) === first ? 0 : (weights.alphabetCapital[alphabet] as number);
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (kinds[code] !== alphabetLetter || alphabetOf(code) !== alphabet) break;
      if (at - start >= longestWord) continue;
      const letter = smallLetterOf(code);
      if (previous > 0) cost += weights.alphabetPairs[pairs + alphabetPairOf(previous, letter)] as number;
      previous = letter;
    }
    const letters = at - start;
    const length = Math.min(letters, longestWord);
    cost += weights.alphabetLength[alphabet * (longestWord + 1) + length] as number;
    cost += (letters - length) * (weights.alphabetLong[alphabet] as number);
    if (lead !== 0x20) cost += weights.alphabetLead[alphabet * 2 + (lead === noLead ? 0 : 1)] as number;
    this.#at = at;
    const context = weights.alphabetContext[alphabet * contextLevels + this.#contextLevel] as number;
    this.#tokens += Math.max(oneToken, oneToken + cost + context);
    this.#learnContext(cost, letters);
  }

  #hangulWord(lead: number): void {
    const text = this.#text;
    const weights = this.#weights;
    const kinds = this.#kinds;
    const start = this.#at;
    let at = start;
    let cost = lead === noLead || lead === 0x20 ? 0 : weights.hangulLead;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (kinds[code] !== hangulSyllable) break;
      const syllableClass = hangulClassOf(weights.hangulClasses, code);
      cost += (
        at === start ? weights.hangulFirst[syllableClass] : weights.hangulRest[syllableClass]
      ) as number;
    }
    cost += weights.hangulLength[Math.min(at - start, longestHangulWord)] as number;
    this.#at = at;
    this.#tokens += Math.max(oneToken, oneToken + cost);
  }

  #cjkRun(lead: number): void {
    const text = this.#text;
    const weights = this.#weights;
    const kinds = this.#kinds;
    let at = this.#at;
    let cost = lead === noLead ? 0 : (weights.cjkLead[lead === 0x20 ? 0 : 1] as number);
    let previous = -1;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (kinds[code] !== cjkCharacter) break;
      const characterClass = cjkClassOf(weights.cjkClasses, code);
      cost += weights.cjkCharacter[characterClass] as number;
      cost += (
        previous < 0
          ? weights.cjkFirst[characterClass]
          : weights.cjkPair[previous * cjkClassCount + characterClass]
      ) as number;
      previous = characterClass;
    }
    this.#at = at;
    this.#tokens += Math.max(oneToken, cost);
  }

  #learnContext(cost: number, letters: number): void {
    this.#context = nextContext(this.#context, cost, letters);
    this.#contextLevel = contextLevelOf(this.#context);
  }
}

/** Returns the context after a word, by its number of letters and its cost beyond the first token in hundredths. */
export function nextContext(context: number, cost: number, letters: number): number {
  if (letters < shortestRevealingWord) return context;
  return context * contextMemory + (1 - contextMemory) * (cost / letters);
}

/** Returns the level of a context, by which the weights of a word are chosen. */
export function contextLevelOf(context: number): number {
  return Math.min(contextLevels - 1, Math.max(0, Math.floor(context / contextStep)));
}

/** Returns the place of a pair of letters among the weights of its alphabet. */
export function alphabetPairOf(previous: number, letter: number): number {
  return (previous * 37 + letter) & (alphabetPairCount - 1);
}

function isSurrogate(code: number): boolean {
  return (code & 0xf800) === 0xd800;
}

function isBreakOrSlash(code: number): boolean {
  return code === 0x0a || code === 0x0d || code === 0x2f;
}

/**
 * Returns the length of an English contraction at this place: `'s`, `'t`, `'m`, `'d`, `'re`, `'ve`, `'ll`; otherwise
 * 0.
 */
function suffixLength(text: string, at: number): number {
  if (text.charCodeAt(at) !== 0x27) return 0;
  switch (text.charCodeAt(at + 1) | 0x20) {
    case 0x73:
    case 0x74:
    case 0x6d:
    case 0x64:
      return 2;
    case 0x72:
    case 0x76:
      return (text.charCodeAt(at + 2) | 0x20) === 0x65 ? 3 : 0;
    case 0x6c:
      return (text.charCodeAt(at + 2) | 0x20) === 0x6c ? 3 : 0;
    default:
      return 0;
  }
}
