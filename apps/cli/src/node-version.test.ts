import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { nodeProblem, oldestNode } from "./node-version.js";

describe("a Node that is too old", () => {
  it.each(["18.20.4", "20.18.9"])("is named, with the one that is needed: %s", (version) => {
    expect(nodeProblem(version)).toContain(`Node ${version} is too old. Parley needs Node 20.19`);
  });

  it.each(["20.19.0", "22.0.0", "24.1.0"])("is none of those that suffice: %s", (version) => {
    expect(nodeProblem(version)).toBeUndefined();
  });

  it("is the one that the package names", () => {
    const { engines } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
      engines: { node: string };
    };
    expect(engines.node).toBe(`>=${oldestNode}`);
  });

  it("is looked at before anything else is loaded", () => {
    const main = readFileSync(new URL("main.ts", import.meta.url), "utf8");
    expect(main.match(/^import .*/gm)).toEqual(['import { nodeProblem } from "./node-version.js";']);
  });
});
