import { expect, it } from "vitest";
import { waitingWords } from "./waiting-words.js";

const since = 1_000_000;

it("shows nothing for a short wait for the model or a tool, and at once that it waits for the user", () => {
  expect(waitingWords("model", undefined, 2_000)).toEqual({ text: "Waiting for the model", shown: false });
  expect(waitingWords("model", undefined, 5_000)).toEqual({
    text: "Waiting for the model · 5 s",
    shown: true,
  });
  expect(waitingWords("tool", undefined, 61_000).text).toBe("Waiting for the tool · 1 min 1 s");
  expect(waitingWords("person", undefined, 0)).toEqual({ text: "Waiting for you", shown: true });
});

it("counts down to the next attempt, names the cause, and then says that the model is called again", () => {
  const progress = { activity: "retrying", since, retryAt: since + 3_400, code: "rate_limited" };
  const cause = "The provider limits how often it is asked";
  expect(waitingWords("model", progress, 0)).toEqual({ text: "Retrying in 4 s", cause, shown: true });
  expect(waitingWords("model", progress, 3_000).text).toBe("Retrying in 1 s");
  expect(waitingWords("model", progress, 6_000).text).toBe("Asking the model again · 6 s");
});

it("says that older messages are being summarized", () => {
  expect(waitingWords("model", { activity: "compacting", since }, 2_000).text).toBe(
    "Summarizing older messages · 2 s",
  );
});

it("ignores an activity of a newer server", () => {
  expect(waitingWords("model", { activity: "dreaming", since }, 4_000).text).toBe(
    "Waiting for the model · 4 s",
  );
});
