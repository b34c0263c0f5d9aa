import type { ModelPrices } from "@parley/wire";

/** The day on which the prices below were read from the providers' published lists. */
export const modelPricesDate = "2026-11-18";

type Row = readonly [input: number, cachedInput: number, cacheWrite: number, output: number];

// US dollars for a million tokens, at the standard tier. Only models with one price list for requests of
// every length; the price of any other model is unknown. Cache writes cost the price of input at OpenAI, and
// 1.25 times that at Anthropic, for five minutes.
const openai: Readonly<Record<string, Row>> = {
  "gpt-5.4-mini": [0.75, 0.075, 0.75, 4.5],
  "gpt-5.2": [1.75, 0.175, 1.75, 14],
  "gpt-5.1": [1.25, 0.125, 1.25, 10],
  "gpt-5": [1.25, 0.125, 1.25, 10],
  "gpt-5-mini": [0.25, 0.025, 0.25, 2],
  "gpt-5-nano": [0.05, 0.005, 0.05, 0.4],
  "gpt-4.1": [2, 0.5, 2, 8],
  "gpt-4.1-mini": [0.4, 0.1, 0.4, 1.6],
  "gpt-4.1-nano": [0.1, 0.025, 0.1, 0.4],
  "gpt-4o": [2.5, 1.25, 2.5, 10],
  "gpt-4o-mini": [0.15, 0.075, 0.15, 0.6],
  o1: [15, 7.5, 15, 60],
  o3: [2, 0.5, 2, 8],
  "o3-mini": [1.1, 0.55, 1.1, 4.4],
  "o4-mini": [1.1, 0.275, 1.1, 4.4],
};

const anthropic: Readonly<Record<string, Row>> = {
  "claude-fable-5-1": [10, 0.25, 12.5, 50],
  "claude-fable-5": [10, 1, 12.5, 50],
  "claude-opus-5": [5, 0.5, 6.25, 25],
  "claude-opus-4-8": [5, 0.5, 6.25, 25],
  "claude-opus-4-7": [5, 0.5, 6.25, 25],
  "claude-opus-4-6": [5, 0.5, 6.25, 25],
  "claude-opus-4-5": [5, 0.5, 6.25, 25],
  "claude-opus-4-1": [15, 1.5, 18.75, 75],
  "claude-opus-4": [15, 1.5, 18.75, 75],
  "claude-sonnet-4-6": [3, 0.3, 3.75, 15],
  "claude-haiku-4-5": [1, 0.1, 1.25, 5],
};

const tables = { openai, anthropic };

/** The provider whose prices are requested: the same model may cost something else elsewhere. */
export type PricedProvider = keyof typeof tables;

/**
 * Finds the published prices of a model at its own provider, by its name with or without a date. Undefined
 * for a model whose price is not known for certain: another version, size or tier of a known model is another
 * model.
 */
export function modelPrices(
  provider: PricedProvider,
  name: string,
  options: {
    /** True if caches last for an hour; at Anthropic writing these costs twice the price of input. */
    readonly hourCache?: boolean;
  } = {},
): ModelPrices | undefined {
  const table = tables[provider];
  const model = name.toLowerCase().replace(/-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, "");
  const row = Object.hasOwn(table, model) ? table[model] : undefined;
  if (row === undefined) return undefined;
  const [input, cachedInput, cacheWrite, output] = row;
  const isHour = options.hourCache === true && provider === "anthropic";
  return { input, cachedInput, cacheWrite: isHour ? 2 * input : cacheWrite, output, currency: "USD" };
}
