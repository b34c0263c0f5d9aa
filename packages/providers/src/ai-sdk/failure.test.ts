import { AISDKError } from "ai";
import { describe, expect, it } from "vitest";
import { toCallError } from "./failure.js";

describe("a failure inside a stream", () => {
  const payload = { type: "overloaded_error", message: "busy" };
  const call = { provider: "anthropic", family: "anthropic" } as const;

  it("is recognized by the provider's payload, as version 6 of the SDK passes it on", () => {
    expect(toCallError(payload, call)).toMatchObject({ code: "provider_overloaded" });
  });

  it("is recognized by the payload in the error that version 7 of the SDK creates", () => {
    const error = new AISDKError({ name: "AI_StreamProviderError", message: "busy" });
    const wrapped = Object.assign(error, { data: payload, isRetryable: true });
    expect(toCallError(wrapped, call)).toMatchObject({
      code: "provider_overloaded",
      message: "anthropic: busy",
    });
  });
});
