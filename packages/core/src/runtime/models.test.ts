import { createScriptedProvider } from "@parley/testing";
import { describe, expect, it } from "vitest";
import { createModelCatalog, type ModelBinding } from "./models.js";

const model = (name: string, contextWindow: number): ModelBinding => ({
  name,
  provider: createScriptedProvider([]),
  providerName: "test",
  model: name,
  contextWindow,
});

describe("the models of a runtime", () => {
  it("are found by name; the first one, or the one that is named, serves by default", () => {
    const bindings = [model("test/a", 1_000), { ...model("test/b", 2_000), maxOutputTokens: 7 }];
    expect(createModelCatalog(bindings).resolve(undefined).name).toBe("test/a");
    const catalog = createModelCatalog(bindings, { defaultModel: "test/b" });
    expect(catalog.resolve(undefined).name).toBe("test/b");
    expect(catalog.resolve("test/a").contextWindow).toBe(1_000);
    expect(catalog.list()).toEqual({
      models: ["test/a", "test/b"],
      modelInfo: {
        "test/a": { contextWindow: 1_000 },
        "test/b": { contextWindow: 2_000, maxOutputTokens: 7 },
      },
      defaultModel: "test/b",
    });
  });

  it("that are not there are refused, naming what there is", () => {
    const unknown = expect.objectContaining({
      code: "model_unavailable",
      message: expect.stringContaining("test/a"),
    });
    expect(() => createModelCatalog([model("test/a", 1)]).resolve("test/x")).toThrow(unknown);
    const none = expect.objectContaining({ code: "model_unavailable" });
    expect(() => createModelCatalog([]).resolve(undefined)).toThrow(none);
    expect(createModelCatalog([]).list()).toEqual({ models: [], modelInfo: {} });
  });
});
