import { ParleyError } from "@parley/core/errors";
import { describe, expect, it } from "vitest";
import { hideHeaders } from "./hide-headers.js";

const headers = {
  Authorization: "Bearer sk-live-0123456789",
  "x-team": "team-secret",
  "Content-Type": "application/json",
  "x-short": "v1",
};

describe("a failure that repeats what was sent", () => {
  it("is reported without the key and the headers of the configuration", () => {
    const cause = new Error("inner");
    const error = new ParleyError("provider_auth", "p: wrong key sk-live-0123456789 of team-secret (v1)", {
      retryable: true,
      retryAfterMs: 7,
      details: { status: 401, reason: "bad_sk-live-0123456789" },
      cause,
    });
    const hidden = hideHeaders(error, headers);
    expect(hidden.message).toBe("p: wrong key [hidden] of [hidden] (v1)");
    expect(hidden).toMatchObject({
      code: "provider_auth",
      retryable: true,
      retryAfterMs: 7,
      details: { status: 401, reason: "bad_[hidden]" },
      cause,
    });
  });

  it("is reported without a key that was cut in its middle", () => {
    const cut = new ParleyError("provider_auth", "p: you sent sk-live-01…");
    expect(hideHeaders(cut, headers).message).toBe("p: you sent [hidden]…");
  });

  it("is left unchanged if it contains none of them", () => {
    const error = new ParleyError("provider_auth", "p: Content-Type must be application/json");
    expect(hideHeaders(error, headers)).toBe(error);
    expect(hideHeaders(error, undefined)).toBe(error);
  });
});
