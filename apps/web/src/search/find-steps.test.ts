import { expect, it } from "vitest";
import { nextPlace, placesOf } from "./find-steps.js";

it("has each message once, in the order of the conversation", () => {
  expect(placesOf([{ seq: 9 }, { seq: 4 }, { seq: 9 }, { seq: 1 }])).toEqual([1, 4, 9]);
});

it.each([
  [[1, 4, 9], 4, 1, 9],
  [[1, 4, 9], 4, -1, 1],
  [[1, 4, 9], 9, 1, 1],
  [[1, 4, 9], 1, -1, 9],
  [[1, 4, 9], undefined, -1, 9],
  [[1, 4, 9], undefined, 1, 9],
  [[1, 4, 9], 5, 1, 9],
  [[1, 4, 9], 5, -1, 4],
  [[1, 4, 9], 12, 1, 1],
  [[7], 7, 1, 7],
  [[], 7, 1, undefined],
  [[], undefined, -1, undefined],
] as const)("of %j, from %s on by %s, goes to %s", (places, shown, step, expected) => {
  expect(nextPlace(places, shown, step)).toBe(expected);
});
