import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildUrl, needsBaseUrl } from "./build-url.js";
import type { HttpRequestOptions } from "./request-options.js";

const build = (request: Partial<HttpRequestOptions>, base?: string) =>
  buildUrl({ operation: "o", method: "GET", ...request }, base);

describe("buildUrl", () => {
  it("uses a URL unchanged", () => {
    expect(build({ url: "https://a/b?c#d", path: "/x", pageSize: 3 }, "https://base")).toBe(
      "https://a/b?c#d",
    );
  });

  it.each([
    ["https://h/v1", "/models", "https://h/v1/models"],
    ["https://h/v1/", "models", "https://h/v1/models"],
    ["https://h/v1//", "/models", "https://h/v1/models"],
    ["https://h/v1", "", "https://h/v1"],
    ["https://h/v1?api-version=2", "/models", "https://h/v1/models?api-version=2"],
    ["https://h/v1?api-version=2", "/models?a=b", "https://h/v1/models?a=b&api-version=2"],
    ["https://h/v1", "?a=b", "https://h/v1?a=b"],
    ["https://h/v1", "https://other/x", "https://other/x"],
  ])("appends to %s the path %s", (base, path, expected) => {
    expect(build({ urlParts: { path } }, base)).toBe(expected);
    expect(build({ urlParts: { baseUrl: base, path } }, "https://unused")).toBe(expected);
    expect(build({ path }, base)).toBe(expected);
  });

  it("puts the query before a fragment and after an existing query", () => {
    expect(build({ urlParts: { path: "/p?a=1#f", query: { b: 2 } } }, "https://h")).toBe(
      "https://h/p?a=1&b=2#f",
    );
  });

  it("leaves out undefined and null, and repeats a name for an array", () => {
    const query = { a: undefined, b: null, c: false, d: ["x", undefined, 2], e: [] };
    expect(build({ urlParts: { path: "/p", query } }, "https://h")).toBe("https://h/p?c=false&d=x&d=2");
  });

  it("round-trips every query", () => {
    const query = fc.dictionary(
      fc.string({ minLength: 1, unit: "grapheme" }),
      fc.string({ unit: "grapheme" }),
    );
    fc.assert(
      fc.property(query, (given) => {
        const url = new URL(build({ urlParts: { path: "/p", query: given } }, "https://h/v1"));
        expect([...url.searchParams]).toEqual(Object.entries(given));
      }),
    );
  });
});

describe("needsBaseUrl", () => {
  it("is true only if neither the URL, the parts nor an absolute path names the host", () => {
    const needs = (request: Partial<HttpRequestOptions>) =>
      needsBaseUrl({ operation: "o", method: "GET", ...request });
    expect(needs({ url: "https://a" })).toBe(false);
    expect(needs({ urlParts: { baseUrl: "https://a", path: "/b" } })).toBe(false);
    expect(needs({ urlParts: { path: "https://a/b" } })).toBe(false);
    expect(needs({ path: "https://a/b" })).toBe(false);
    expect(needs({ urlParts: { path: "/b" } })).toBe(true);
    expect(needs({ path: "/b" })).toBe(true);
  });
});
