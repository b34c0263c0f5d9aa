import { expect, it } from "vitest";
import { progressWords } from "./progress-words.js";

it("says why a turn shows nothing new, and counts down to the next attempt", () => {
  const retrying = { activity: "retrying", since: 10_000, retryAt: 12_100, code: "rate_limited" };
  const cause = "The model could not be asked (rate_limited); ";
  expect(progressWords(retrying, 10_000)).toBe(`${cause}retrying in 3.0 s`);
  expect(progressWords(retrying, 13_000)).toBe(`${cause}asking again`);
  expect(progressWords({ activity: "compacting", since: 0 }, 5)).toBe("Summarizing older messages");
});
