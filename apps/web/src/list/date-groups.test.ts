import { expect, it } from "vitest";
import { groupByDate } from "./date-groups.js";

const now = new Date(2026, 5, 15, 14, 30).getTime();
const at = (month: number, date: number, hour = 12) => new Date(2026, month, date, hour).getTime();

function labels(...times: readonly number[]): readonly (readonly [string, number])[] {
  return groupByDate(times, (time) => time, now, "en").map(({ label, entries }) => [label, entries.length]);
}

it("groups by calendar days", () => {
  expect(
    labels(now + 5_000, at(5, 15, 0), at(5, 14, 23), at(5, 13), at(5, 8), at(5, 7), at(4, 20), at(3, 2)),
  ).toEqual([
    ["Today", 2],
    ["Yesterday", 1],
    ["Previous 7 days", 2],
    ["Previous 30 days", 2],
    ["April 2026", 1],
  ]);
});

it("has no groups if there is nothing", () => expect(labels()).toEqual([]));
