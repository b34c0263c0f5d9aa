import { expect, it } from "vitest";
import { gapIn, narrowGap } from "./gap.js";
import { emptyDocument, readDocument } from "./syntax/document.js";

const groupsOf = (paragraphs: number) =>
  readDocument(emptyDocument, `${"word ".repeat(200)}\n\n`.repeat(paragraphs), false).groups;

it("draws a text of usual length whole", () => {
  expect(gapIn(groupsOf(100))).toBeUndefined();
  expect(gapIn([])).toBeUndefined();
});

it("leaves out the middle of a long text, never its end, and draws it step by step on request", () => {
  const groups = groupsOf(1_000);
  const gap = gapIn(groups);
  if (gap === undefined) throw new Error("there is no gap");
  expect(gap.from).toBeGreaterThan(0);
  expect(gap.to).toBeLessThan(groups.length);
  expect(gap.chars).toBeGreaterThan(800_000);
  const rest = narrowGap(groups, gap, 100_000);
  expect(rest?.to).toBe(gap.to);
  expect(rest?.chars).toBeLessThanOrEqual(gap.chars - 100_000);
  expect(narrowGap(groups, gap, Number.POSITIVE_INFINITY)).toBeUndefined();
});
