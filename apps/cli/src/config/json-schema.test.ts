import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { configJsonSchema } from "./json-schema.js";
import { knownKeys } from "./known-keys.js";
import { settingDescriptions } from "./setting-descriptions.js";

describe("the JSON schema of the configuration", () => {
  it("is the file in the package (node scripts/config-schema.mjs writes it)", () => {
    const file = new URL("../../parley.config.schema.json", import.meta.url);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(configJsonSchema());
  });

  it("describes every setting, and none that does not exist", () => {
    const paths = Object.keys(settingDescriptions);
    const described = (path: readonly string[]) => settingDescriptions[path.join(".")] !== undefined;
    const missing = [
      [],
      ["store"],
      ["listen"],
      ["limits"],
      ["models", "*"],
      ["tools"],
      ["approvals"],
    ].flatMap((at) =>
      knownKeys(at)
        .filter((name) => !["custom", "provider", "env"].includes(name))
        .map((name) => [...at, name])
        .filter((path) => !described(path)),
    );
    expect(missing).toEqual([]);
    const unknown = paths.filter((path) => {
      const names = path.split(".");
      return !knownKeys(names.slice(0, -1)).includes(names.at(-1) ?? "");
    });
    expect(unknown).toEqual([]);
  });

  it("leaves out what only a module can hold", () => {
    expect(JSON.stringify(configJsonSchema())).not.toContain("custom");
  });
});
