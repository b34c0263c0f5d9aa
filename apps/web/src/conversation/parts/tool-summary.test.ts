import { expect, it } from "vitest";
import { lastLine, toolInputText, toolSummary } from "./tool-summary.js";

it("shows the only value of an input", () => {
  expect(toolSummary({ expression: "(3 + 4) * 12" })).toBe("(3 + 4) * 12");
  expect(toolSummary({ steps: 5 })).toBe("5");
  expect(toolSummary({})).toBe("");
});

it("names the values when there are several", () => {
  expect(toolSummary({ path: "/a", lines: [1, 2] })).toBe("path: /a, lines: [1,2]");
});

it("shows what the model wrote if it is not JSON", () => {
  expect(toolSummary(undefined, '{"a": ')).toBe('{"a":');
  expect(toolInputText(undefined, '{"a": ')).toBe('{"a": ');
});

it("stays one short line for any input", () => {
  const summary = toolSummary({ text: `a\nb\t${"x".repeat(1_000_000)}` });
  expect(summary).not.toContain("\n");
  expect(summary.length).toBeLessThanOrEqual(160);
});

it("finds the last line that was printed", () => {
  expect(lastLine("step 1\nstep 2\n")).toBe("step 2");
  expect(lastLine("")).toBe("");
});
