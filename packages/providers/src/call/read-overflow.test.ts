import { describe, expect, it } from "vitest";
import { readAnthropicFailure } from "../anthropic/failure.js";
import { readOpenAIFailure } from "../openai/failure.js";

const said = (message: string, more: object = {}) => ({ error: { message, ...more } });

describe("the window that a provider names in its refusal", () => {
  it.each([
    [
      "OpenAI",
      said(
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages.",
        { code: "context_length_exceeded", type: "invalid_request_error" },
      ),
      128_000,
    ],
    [
      "Azure OpenAI",
      said(
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens.",
      ),
      272_000,
    ],
    [
      "vLLM",
      {
        object: "error",
        message:
          "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion).",
        type: "BadRequestError",
        code: 400,
      },
      16_384,
    ],
    [
      "vLLM, by its prompt alone",
      said(
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that ...",
      ),
      4_096,
    ],
    [
      "SGLang",
      said("The input (5000 tokens) is longer than the model's context length (4096 tokens)."),
      4_096,
    ],
    [
      "SGLang, with the answer",
      said(
        "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested ...",
      ),
      4_096,
    ],
    [
      "OpenRouter",
      said(
        "This endpoint's maximum context length is 131,072 tokens. However, you requested about 138956 tokens (7884 of text input, 131072 in the output).",
        { code: 400 },
      ),
      131_072,
    ],
    [
      "LiteLLM",
      said(
        'litellm.ContextWindowExceededError: AnthropicError - {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 209303 tokens > 200000 maximum"}}',
        { type: null, code: "400" },
      ),
      200_000,
    ],
    [
      "Text Generation Inference",
      {
        error:
          "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1512. Given: 1000 `inputs` tokens and 1024 `max_new_tokens`",
        error_type: "validation",
      },
      1_512,
    ],
    [
      "Text Generation Inference, by its input",
      {
        error: "Input validation error: `inputs` must have less than 1024 tokens. Given: 1168",
        error_type: "validation",
      },
      1_024,
    ],
    [
      "llama.cpp",
      said("the request exceeds the available context size", {
        code: 400,
        type: "exceed_context_size_error",
        n_prompt_tokens: 14_429,
        n_ctx: 8_192,
      }),
      8_192,
    ],
    [
      "Ollama, which passes on what llama.cpp said",
      {
        error: JSON.stringify(
          said("m", { code: 400, type: "exceed_context_size_error", n_prompt_tokens: 2_622, n_ctx: 512 }),
        ),
      },
      512,
    ],
    ["llama-cpp-python", said("Requested tokens (2285) exceed context window of 2048"), 2_048],
    [
      "Google",
      said("The input token count exceeds the maximum number of tokens allowed (1048576).", { code: 400 }),
      1_048_576,
    ],
    [
      "xAI",
      said("This model's maximum prompt length is 131072 but the request contains 150000 tokens."),
      131_072,
    ],
    [
      "Mistral",
      said(
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
      ),
      32_768,
    ],
  ])("is read: %s", (_, body, contextWindow) => {
    expect(readOpenAIFailure(body, 400)).toMatchObject({ code: "context_overflow", contextWindow });
  });

  it.each([
    ["prompt is too long: 210000 tokens > 200000 maximum"],
    ["input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input"],
  ])("is read: Anthropic, %s", (message) => {
    const body = { type: "error", error: { type: "invalid_request_error", message } };
    expect(readAnthropicFailure(body, 400)).toMatchObject({
      code: "context_overflow",
      contextWindow: 200_000,
    });
  });

  it("is absent if none is named, and only the code decides", () => {
    const code = "context_length_exceeded";
    const responses = said("Your input exceeds the context window of this model.", { code });
    expect(readOpenAIFailure(responses, 400)).toEqual({
      code: "context_overflow",
      message: "Your input exceeds the context window of this model.",
      reason: code,
    });
    // Ollama's own refusal reports by how much a request is too long, not what would fit.
    const ollama = { error: "prompt too long; exceeded max context length by 17 tokens" };
    expect(readOpenAIFailure(ollama, 400)).not.toHaveProperty("contextWindow");
  });

  it("is not read from a failure of another kind", () => {
    const message = "This model's maximum context length is 300 tokens";
    for (const code of ["rate_limit_exceeded", "insufficient_quota", "invalid_api_key", "server_error"]) {
      expect(readOpenAIFailure(said(message, { code }), 400)).not.toHaveProperty("contextWindow");
    }
    for (const status of [401, 404, 429, 500, 503]) {
      expect(readOpenAIFailure(said(message), status)).toEqual({ message });
    }
  });

  it("is never read from status 413, which is about bytes", () => {
    const limit = "This model's maximum context length is 300 tokens";
    for (const more of [{}, { code: "context_length_exceeded" }, { code: "request_too_large" }]) {
      const failure = readOpenAIFailure(said(limit, more), 413);
      expect(failure?.contextWindow).toBeUndefined();
      expect(failure?.code).toBe("too_large");
    }
    const claude = {
      error: { type: "invalid_request_error", message: "prompt is too long: 9 tokens > 300 maximum" },
    };
    expect(readAnthropicFailure(claude, 413)?.code).toBe("too_large");
    expect(readAnthropicFailure({ error: { type: "request_too_large" } }, 413)?.code).toBe("too_large");
    expect(readOpenAIFailure({ error: { code: 413, message: limit } }, 0)?.code).toBe("too_large");
  });

  it("leaves a rate limit that some servers answer with 413 unchanged", () => {
    expect(readOpenAIFailure(said("m", { code: "rate_limit_exceeded" }), 413)?.code).toBe("rate_limited");
  });

  it("is found in linear time, at the start of a message", () => {
    const long = `${"prompt is too long: 1 tokens > ".repeat(200_000)}5 maximum`;
    expect(readOpenAIFailure(said(long), 400)).not.toHaveProperty("contextWindow");
  });
});
