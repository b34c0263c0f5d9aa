import type { ProviderFailure } from "./http-failure.js";

/** A limit is named at the start of a message; the rest may be anything, of any length. */
const searchedCharacters = 4_000;

/**
 * The wordings in which servers name their window, one per server and version. Servers without a code or a
 * field for an overflow can only be recognized by these; each states the limit in tokens as its one captured
 * figure.
 */
const wordings: readonly RegExp[] = [
  // OpenAI (chat completions), DeepSeek, vLLM: "This model's maximum context length is 8192 tokens. However, ..."
  // OpenRouter: "This endpoint's maximum context length is 131072 tokens. However, ..."
  /\b(?:model|endpoint)'s maximum context length is ([\d,]+) tokens\b/i,
  // SGLang and newer vLLM: "... exceeds the model's maximum context length of 4096 tokens."
  /\bmodel's maximum context length of ([\d,]+) tokens\b/i,
  // vLLM: "The decoder prompt (length 5000) is longer than the maximum model length of 4096."
  /\blonger than the maximum model length of ([\d,]+)\b/i,
  // SGLang: "The input (5000 tokens) is longer than the model's context length (4096 tokens)."
  /\blonger than the model's context length \(([\d,]+) tokens\)/i,
  // Azure OpenAI: "Input tokens exceed the configured limit of 272000 tokens."
  /\bInput tokens exceed the configured limit of ([\d,]+) tokens\b/i,
  // Anthropic, also when a proxy such as LiteLLM quotes it.
  /\bprompt is too long: [\d,]+ tokens > ([\d,]+) maximum\b/i,
  /\bexceed context limit: [\d,]+ \+ [\d,]+ > ([\d,]+)\b/i,
  // Text Generation Inference.
  /`inputs` tokens \+ `max_new_tokens` must be <= ([\d,]+)/,
  /`inputs` must have less than ([\d,]+) tokens\b/,
  // llama-cpp-python: "Requested tokens (2285) exceed context window of 2048".
  /\bRequested tokens(?: \([\d,]+\))? exceed context window of ([\d,]+)\b/i,
  // Google: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."
  /\binput token count(?: \([\d,]+\))? exceeds the maximum number of tokens allowed \(([\d,]+)\)/i,
  // xAI: "This model's maximum prompt length is 131072 but the request contains 150000 tokens."
  /\bmodel's maximum prompt length is ([\d,]+) but\b/i,
  // Mistral: "... too large for model with 32768 maximum context length".
  /\btoo large for model with ([\d,]+) maximum context length\b/i,
];

/** The statuses with which servers refuse a request because of its content; 0 inside a stream. */
const refusals = new Set([0, 400, 422]);

/**
 * Adds to a failure what its payload says about the model's window: the limit as a number, and the code
 * `context_overflow` if only the limit reveals it. Status 413 is about bytes, never about tokens.
 */
export function readOverflow(
  failure: ProviderFailure,
  payload: Readonly<Record<string, unknown>>,
  status: number,
): ProviderFailure {
  const { code } = failure;
  const isUndecided = code === undefined || code === "provider_rejected";
  if (code !== "context_overflow" && !isUndecided) return failure;
  if (status === 413) return { ...failure, code: "too_large" };
  if (isUndecided && !refusals.has(status)) return failure;
  // llama.cpp sends the number as a separate field.
  const contextWindow = asWindow(payload.n_ctx) ?? windowInText(failure.message);
  return contextWindow === undefined ? failure : { ...failure, code: "context_overflow", contextWindow };
}

function windowInText(message: string | undefined): number | undefined {
  if (message === undefined) return undefined;
  const searched = message.slice(0, searchedCharacters);
  for (const wording of wordings) {
    const figure = wording.exec(searched)?.[1];
    if (figure !== undefined) return asWindow(Number(figure.replaceAll(",", "")));
  }
  return undefined;
}

function asWindow(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
