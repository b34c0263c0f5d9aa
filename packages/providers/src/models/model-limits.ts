/** Limits of a model, in tokens. */
export interface ModelLimits {
  /** Input and output together. */
  readonly contextWindow: number;
  /** Maximum tokens of one answer. */
  readonly maxOutputTokens: number;
}

/** Assumed limits of a model that the table does not contain. */
export const defaultModelLimits: ModelLimits = { contextWindow: 128_000, maxOutputTokens: 16_384 };

// By the start of the name. The longest match wins, so exceptions can be listed beside their family in any
// order. Where sources disagree, the smaller figure is listed: too small a window compacts early, too large a
// one fails.
const table: Readonly<Record<string, readonly [contextWindow: number, maxOutputTokens: number]>> = {
  "gpt-5.4": [1_050_000, 128_000],
  "gpt-5.4-mini": [400_000, 128_000],
  "gpt-5.4-nano": [400_000, 128_000],
  "gpt-5": [400_000, 128_000],
  "gpt-5-chat": [128_000, 16_384],
  "gpt-4.1": [1_047_576, 32_768],
  "gpt-4.5": [128_000, 16_384],
  "gpt-4o": [128_000, 16_384],
  "chatgpt-4o": [128_000, 16_384],
  "gpt-4-turbo": [128_000, 4_096],
  "gpt-4-1106": [128_000, 4_096],
  "gpt-4-0125": [128_000, 4_096],
  "gpt-4-32k": [32_768, 8_192],
  "gpt-4": [8_192, 8_192],
  "gpt-3.5-turbo": [16_385, 4_096],
  "gpt-oss": [131_072, 131_072],
  o1: [200_000, 100_000],
  "o1-mini": [128_000, 65_536],
  "o1-preview": [128_000, 32_768],
  o3: [200_000, 100_000],
  o4: [200_000, 100_000],
  "codex-mini": [200_000, 100_000],

  "claude-fable-5": [1_000_000, 128_000],
  "claude-opus-5": [1_000_000, 128_000],
  "claude-sonnet-5": [1_000_000, 128_000],
  "claude-haiku-5": [1_000_000, 128_000],
  "claude-opus-4": [200_000, 32_000],
  "claude-opus-4-5": [200_000, 64_000],
  "claude-opus-4-6": [200_000, 128_000],
  "claude-opus-4-7": [200_000, 128_000],
  "claude-opus-4-8": [200_000, 128_000],
  "claude-sonnet-4": [200_000, 64_000],
  "claude-sonnet-4-6": [200_000, 128_000],
  "claude-haiku-4": [200_000, 64_000],
  "claude-3-7-sonnet": [200_000, 64_000],
  "claude-3-5": [200_000, 8_192],
  "claude-3": [200_000, 4_096],
  claude: [200_000, 32_000],

  "gemini-3": [1_048_576, 65_536],
  "gemini-2.5": [1_048_576, 65_536],
  "gemini-2.0": [1_048_576, 8_192],
  "gemini-1.5-pro": [2_097_152, 8_192],
  "gemini-1.5": [1_048_576, 8_192],
  "gemma-3": [128_000, 8_192],
  gemma3: [128_000, 8_192],

  "deepseek-chat": [128_000, 8_192],
  "deepseek-reasoner": [128_000, 64_000],
  "deepseek-r1": [128_000, 32_768],
  "deepseek-v3": [128_000, 8_192],
  "grok-4-fast": [2_000_000, 64_000],
  "grok-4": [256_000, 64_000],
  "grok-3": [131_072, 16_384],
  "kimi-k2": [262_144, 32_768],
  "glm-4.6": [200_000, 128_000],
  "glm-4.5": [131_072, 98_304],
  "llama-4": [131_072, 8_192],
  "llama-3.3": [131_072, 32_768],
  "llama-3.2": [131_072, 8_192],
  "llama-3.1": [131_072, 8_192],
  "llama-3": [8_192, 8_192],
  "llama3.3": [131_072, 32_768],
  "llama3.2": [131_072, 8_192],
  "llama3.1": [131_072, 8_192],
  llama3: [8_192, 8_192],
  "mistral-large": [131_072, 16_384],
  "mistral-medium": [131_072, 16_384],
  "mistral-small": [131_072, 16_384],
  codestral: [262_144, 16_384],
  "qwen3-coder": [262_144, 65_536],
  qwen3: [131_072, 32_768],
  "qwen2.5": [32_768, 8_192],
  phi4: [16_384, 16_384],
  "phi-4": [16_384, 16_384],
};

const prefixes = Object.keys(table).sort((left, right) => right.length - left.length);

/**
 * Returns the limits of a model by its name. A leading path (`openai/gpt-5`, as routers spell it) and the
 * `ft:` of a fine-tuned model are ignored; case does not matter. Unknown models get `defaultModelLimits`: a
 * host can declare the real ones, and otherwise they are learned from an overflow.
 */
export function modelLimits(name: string): ModelLimits {
  const plain = name.toLowerCase().replace(/^ft:/, "");
  const base = plain.slice(plain.lastIndexOf("/") + 1);
  const prefix = prefixes.find((known) => base.startsWith(known) && isWordEnd(base, known.length));
  const found = prefix === undefined ? undefined : table[prefix];
  if (found === undefined) return defaultModelLimits;
  const [contextWindow, maxOutputTokens] = found;
  return { contextWindow, maxOutputTokens };
}

/**
 * Returns true at a word boundary: `o1` matches `o1-pro`, but not `o10`; `gpt-4` does not match `gpt-4o`,
 * which has its own line.
 */
function isWordEnd(name: string, at: number): boolean {
  const next = name[at];
  return next === undefined || !/[a-z0-9]/.test(next);
}
