import { expect, it } from "vitest";
import { conversationPath, parseRoute } from "./router.js";

it("parses the addresses of the pages", () => {
  expect(parseRoute("/")).toEqual({ name: "new" });
  expect(parseRoute("/c/abc")).toEqual({ name: "conversation", conversationId: "abc" });
  expect(parseRoute("/c/abc", "?seq=12")).toEqual({ name: "conversation", conversationId: "abc", seq: 12 });
  expect(parseRoute("/settings")).toEqual({ name: "settings" });
  expect(parseRoute("/settings/tools")).toEqual({ name: "settings", section: "tools" });
});

it("rejects malformed addresses", () => {
  expect(parseRoute("/c/")).toEqual({ name: "unknown" });
  expect(parseRoute("/c/a/b")).toEqual({ name: "unknown" });
  expect(parseRoute("/settings/a/b")).toEqual({ name: "unknown" });
  expect(parseRoute("/keys")).toEqual({ name: "unknown" });
  expect(parseRoute("/c/%E0%A4%A")).toEqual({ name: "unknown" });
  for (const seq of ["0", "-1", "1.5", "x", ""]) {
    expect(parseRoute("/c/abc", `?seq=${seq}`)).toEqual({ name: "conversation", conversationId: "abc" });
  }
});

it("restores any id from its address", () => {
  for (const id of ["abc", "a.b:c-d_e", "ü/ß?#%", "0198-7"]) {
    const [path = "", search] = conversationPath(id, 3).split("?");
    expect(parseRoute(path, `?${search}`)).toEqual({ name: "conversation", conversationId: id, seq: 3 });
  }
});
