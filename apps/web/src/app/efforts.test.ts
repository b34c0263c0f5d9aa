import type { ModelsResponse, ReasoningEffort } from "@parley/wire";
import { expect, it } from "vitest";
import { offeredEfforts } from "./efforts.js";

const modelsWith = (efforts?: readonly ReasoningEffort[]): ModelsResponse => ({
  models: ["a/b"],
  modelInfo: { "a/b": { contextWindow: 1_000, ...(efforts === undefined ? {} : { efforts }) } },
});

const values = (...args: Parameters<typeof offeredEfforts>) =>
  offeredEfforts(...args).choices.map(({ value }) => value);

it("offers the efforts that have an effect, and none if none has", () => {
  expect(values(modelsWith(["low", "high"]), "a/b", null)).toEqual(["default", "low", "high"]);
  expect(values(modelsWith([]), "a/b", null)).toEqual([]);
  expect(values(modelsWith([]), "a/b", "high")).toEqual([]);
});

it("offers all efforts if their effect is unknown, and says that", () => {
  const all = ["default", "low", "medium", "high", "xhigh", "max"];
  for (const [models, model] of [
    [modelsWith(), "a/b"],
    [modelsWith(["low"]), "a/other"],
    [modelsWith(["low"]), undefined],
    [undefined, "a/b"],
  ] as const) {
    expect(values(models, model, null)).toEqual(all);
    expect(offeredEfforts(models, model, null).isKnown).toBe(false);
  }
  expect(offeredEfforts(modelsWith(["low"]), "a/b", null).isKnown).toBe(true);
});

it("shows an effort that was chosen for another model, and says that this model does not support it", () => {
  expect(offeredEfforts(modelsWith(["low", "high"]), "a/b", "max").choices).toEqual([
    { value: "default", label: "Default" },
    { value: "low", label: "Low" },
    { value: "high", label: "High" },
    { value: "max", label: "Maximum", note: "Not known to this model" },
  ]);
});
