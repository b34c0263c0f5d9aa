import { describe, expect, it } from "vitest";
import { exportName } from "./export-conversation.js";

describe("exportName", () => {
  it.each([
    ["What time is it in Berlin?", "What-time-is-it-in-Berlin.md"],
    ["../../etc/passwd", "etc-passwd.md"],
    ["Zürich 東京", "Zürich-東京.md"],
    ["\u202Egnp.exe", "gnp-exe.md"],
    ["???", "c-1.md"],
    ["", "c-1.md"],
  ])("makes a harmless name of %j", (title, name) => {
    expect(exportName({ id: "c:1", title }, "markdown")).toBe(name);
  });

  it("is not longer than a file system allows", () => {
    expect(exportName({ id: "c", title: "word ".repeat(400) }, "jsonl")).toMatch(/^[\w-]{1,60}\.jsonl$/);
  });
});
