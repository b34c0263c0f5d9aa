import { expect, it } from "vitest";
import { readDefaults, setDefaults, takeNewSettings, useNewSettings } from "./new-settings.js";

it("reads defaults, and leaves out invalid ones", () => {
  expect(readDefaults('{"model":"a/b","reasoningEffort":"low","instructions":"Be brief."}')).toEqual({
    model: "a/b",
    reasoningEffort: "low",
    instructions: "Be brief.",
  });
  const nothing = { model: null, reasoningEffort: null, instructions: null };
  for (const stored of [null, "", "{", "7", "null", '{"model":7,"reasoningEffort":"utmost"}'])
    expect(readDefaults(stored)).toEqual(nothing);
});

it("starts every new conversation with the defaults, and one with what was chosen for it", () => {
  setDefaults({ model: "a/b" });
  expect(takeNewSettings()).toEqual({ model: "a/b" });
  useNewSettings.setState({ model: "c/d", reasoningEffort: "high" });
  expect(takeNewSettings()).toEqual({ model: "c/d", reasoningEffort: "high" });
  expect(takeNewSettings()).toEqual({ model: "a/b" });
  setDefaults({ model: null });
  expect(takeNewSettings()).toBeUndefined();
});
