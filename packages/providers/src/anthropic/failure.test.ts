import { describe, expect, it } from "vitest";
import { readAnthropicFailure } from "./failure.js";

const read = (type: string, message: string) =>
  readAnthropicFailure({ type: "error", error: { type, message } });

describe("readAnthropicFailure", () => {
  it.each([
    ["prompt is too long: 210000 tokens > 200000 maximum", "context_overflow"],
    [
      "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input",
      "context_overflow",
    ],
    ["max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens", "provider_rejected"],
    ["messages.0: all messages must have non-empty content", "provider_rejected"],
  ])("distinguishes a prompt that is too long from other refusals: %s", (message, code) => {
    expect(read("invalid_request_error", message)?.code).toBe(code);
  });

  it("prefers machine-readable codes to text for people", () => {
    expect(read("rate_limit_error", "prompt is too long: 2 tokens > 1 maximum")?.code).toBe("rate_limited");
    expect(
      readAnthropicFailure({ error: { type: "billing_error", message: "m", details: { error_code: "x" } } }),
    ).toEqual({ code: "quota_exceeded", message: "m", reason: "x" });
  });

  it("leaves unknown payloads to the status", () => {
    expect(read("brand_new_error", "m")).toMatchObject({ code: undefined, reason: "brand_new_error" });
    expect(readAnthropicFailure("<html>")).toBeUndefined();
  });
});
