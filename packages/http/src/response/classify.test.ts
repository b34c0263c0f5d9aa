import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HttpError } from "../errors.js";
import { DefaultErrorClassifier } from "./classify.js";

const classifier = new DefaultErrorClassifier();
const byStatus = (status: number, body?: string) =>
  classifier.classifyResponse(new Response(null, { status }), body);
const coded = (code: string) => Object.assign(new Error("failed"), { code });

describe("DefaultErrorClassifier on responses", () => {
  it.each([
    [400, "validation", false],
    [401, "auth", false],
    [402, "quota", false],
    [403, "auth", false],
    [404, "not_found", false],
    [408, "timeout", true],
    [409, "transient", true],
    [410, "not_found", false],
    [413, "validation", false],
    [422, "validation", false],
    [425, "transient", true],
    [429, "rate_limit", true],
    [500, "transient", true],
    [503, "transient", true],
    [529, "transient", true],
    [304, "unknown", false],
  ])("classifies a %i as %s", (status, category, retryable) => {
    expect(byStatus(status)).toMatchObject({ category, retryable, statusCode: status });
  });

  it.each([
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "quota_exceeded",
    "credits_exhausted",
    "insufficient_credits",
    "insufficient_balance",
  ])("classifies a 429 with the code %s as an exhausted quota", (code) => {
    for (const body of [
      { error: { code } },
      { error: { type: code } },
      { error: code },
      { code },
      { type: code },
    ]) {
      expect(byStatus(429, JSON.stringify(body))).toMatchObject({
        category: "quota",
        retryable: false,
        reason: code,
      });
    }
  });

  it("uses codes, never the text of a message", () => {
    const error = { code: "rate_limit_exceeded", message: "insufficient_quota, check billing and credit" };
    expect(byStatus(429, JSON.stringify({ error }))).toMatchObject({
      category: "rate_limit",
      retryable: true,
    });
    expect(byStatus(429, "insufficient_quota")).toMatchObject({ category: "rate_limit" });
  });

  it("handles any body without throwing", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (body) => {
        expect(byStatus(500, body).category).toBe("transient");
      }),
    );
  });
});

describe("DefaultErrorClassifier on network errors", () => {
  it("classifies a plain network error as transient, however deep its code is nested", () => {
    expect(classifier.classifyNetworkError(new TypeError("fetch failed"))).toEqual({
      category: "transient",
      retryable: true,
    });
    const deep = new TypeError("fetch failed", { cause: new AggregateError([coded("ECONNREFUSED")]) });
    expect(classifier.classifyNetworkError(deep)).toMatchObject({
      category: "transient",
      reason: "ECONNREFUSED",
    });
  });

  it.each([
    ["ETIMEDOUT", "timeout", true],
    ["UND_ERR_HEADERS_TIMEOUT", "timeout", true],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "network", false],
    ["CERT_HAS_EXPIRED", "network", false],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "network", false],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "network", false],
    ["ERR_TOO_MANY_REDIRECTS", "network", false],
    ["ERR_INVALID_URL", "validation", false],
    ["ENOTFOUND", "transient", true],
  ])("classifies %s as %s", (code, category, retryable) => {
    expect(classifier.classifyNetworkError(coded(code))).toEqual({ category, retryable, reason: code });
  });

  it("keeps the category of an HttpError, and recognizes an abort", () => {
    const failure = new HttpError("x", {
      status: 0,
      category: "rate_limit",
      retryable: true,
      reason: "local",
    });
    expect(classifier.classifyNetworkError(failure)).toEqual({
      category: "rate_limit",
      retryable: true,
      reason: "local",
    });
    expect(classifier.classifyNetworkError(new DOMException("", "AbortError"))).toMatchObject({
      category: "canceled",
    });
  });

  it("does not loop on circular causes", () => {
    const error = new Error("a");
    error.cause = error;
    expect(classifier.classifyNetworkError(error).category).toBe("transient");
  });
});
