// Converts fitted weights to the form that the estimate stores, and to its source file.
import {
  alphabetCount,
  caucasian,
  emojiGroupCount,
  latinLetterCount,
  rareAlphabet,
  southeastAsian,
  symbolGroupCount,
} from "../../packages/core/dist/messages/tokens/script-classes.js";
import {
  alphabetPairCount,
  cjkClassCount,
  contextLevels,
  longestHangulWord,
  longestRun,
  longestWord,
  weightDigitOf,
} from "../../packages/core/dist/messages/tokens/token-weight-tables.js";
import { hasPairs, steppedTables } from "./describe-piece.mjs";

const lengths = longestWord + 1;
const hangulClassCount = 5;

/** Tokens per letter where no tuning text has more; from a few words of each. */
const assumedRates = new Map([
  [caucasian, 0.3],
  [southeastAsian, 0.65],
  [rareAlphabet, 2],
]);
/** Characters outside the basic plane, or otherwise unknown, are several bytes, and each may be a token. */
const assumedEmoji = 3;
const assumedSymbol = 1;
/** Minimum cost per character of very long runs, however cheap the first ones were. */
const leastLong = { latinLong: 0.25, alphabetLong: 0.25, markRunLong: 0.4, equalRunLong: 0.02 };

/** Returns the weights as `TokenWeights`. `fitted` maps features to tokens. */
export function toTokenWeights(fitted, classes) {
  const weightOf = (table, place) => {
    const value = assumed(fitted, table, place) ?? fittedWeight(fitted, table, place);
    return Math.max(value, leastLong[table] ?? value);
  };
  const one = (table) => hundredths(weightOf(table, 0));
  const row = (table, size, from = 0) =>
    Array.from({ length: size }, (_, i) => hundredths(weightOf(table, from + i)));
  const rows = (table, count, size) => Array.from({ length: count }, (_, i) => row(table, size, i * size));
  const digits = (table, size) =>
    Array.from({ length: size }, (_, i) => weightDigitOf(weightOf(table, i))).join("");
  const byCharacter = (table) => {
    const entries = Array.from({ length: 0x80 }, (_, code) => [
      String.fromCharCode(code),
      hundredths(weightOf(table, code)),
    ]);
    return Object.fromEntries(entries.filter(([, value]) => value !== 0));
  };
  return {
    latinLength: rows("latinLength", 3, lengths),
    latinLong: one("latinLong"),
    leadLength: rows("leadLength", 3, 8),
    leadMark: byCharacter("leadMark"),
    leadSymbol: one("leadSymbol"),
    suffix: one("suffix"),
    latinPairs: digits("latinPairs", latinLetterCount * latinLetterCount),
    latinContext: rows("latinContext", contextLevels, lengths),
    alphabetLength: rows("alphabetLength", alphabetCount, lengths),
    alphabetLong: row("alphabetLong", alphabetCount),
    alphabetLead: rows("alphabetLead", alphabetCount, 2),
    alphabetCapital: row("alphabetCapital", alphabetCount),
    alphabetPairs: Array.from({ length: alphabetCount }, (_, alphabet) =>
      hasPairs(alphabet) ? digits(`alphabetPairs${alphabet}`, alphabetPairCount) : "",
    ),
    alphabetContext: rows("alphabetContext", alphabetCount, contextLevels),
    hangulLength: row("hangulLength", longestHangulWord + 1),
    hangulLead: one("hangulLead"),
    hangulFirst: row("hangulFirst", hangulClassCount),
    hangulRest: row("hangulRest", hangulClassCount),
    cjkCharacter: row("cjkCharacter", cjkClassCount),
    cjkPair: rows("cjkPair", cjkClassCount, cjkClassCount),
    cjkFirst: row("cjkFirst", cjkClassCount),
    cjkLead: row("cjkLead", 2),
    markRun: row("markRun", longestRun + 1),
    markRunLong: one("markRunLong"),
    equalRun: row("equalRun", longestRun + 1),
    equalRunLong: one("equalRunLong"),
    markSpace: row("markSpace", 4),
    markBreak: one("markBreak"),
    markCharacter: byCharacter("markCharacter"),
    symbol: row("symbol", symbolGroupCount),
    emoji: row("emoji", emojiGroupCount),
    ...classes,
  };
}

/** Returns the source of `token-weights.ts`. */
export function weightsSource(weights) {
  return `import type { TokenWeights } from "./token-weight-tables.js";

/** Fitted by bench/tune-token-counter.mjs to the texts in bench/texts/tuning. Not edited by hand. */
export const tokenWeights: TokenWeights = ${JSON.stringify(weights, null, 2)};
`;
}

/** Returns the weight of an entry that the tuning texts cannot determine. */
function assumed(fitted, table, place) {
  if (table === "emoji" && !fitted.has(`emoji ${place}`)) return assumedEmoji;
  if (table === "symbol" && !fitted.has(`symbol ${place}`)) return assumedSymbol;
  if (table === "alphabetLong") return assumedRates.get(place);
  if (table !== "alphabetLength") return undefined;
  const rate = assumedRates.get(Math.floor(place / lengths));
  return rate === undefined ? undefined : Math.max(0, rate * (place % lengths) - 1);
}

function fittedWeight(fitted, table, place) {
  const row = steppedTables.get(table);
  if (row === undefined) return fitted.get(`${table} ${place}`) ?? 0;
  let sum = 0;
  for (let step = 1; step <= place % row; step++) {
    sum += fitted.get(`${table} ${place - (place % row) + step}`) ?? 0;
  }
  return sum;
}

function hundredths(tokens) {
  // A negative zero would be written as 0 anyway; this keeps comparisons simple.
  return Math.round(tokens * 100) + 0;
}
