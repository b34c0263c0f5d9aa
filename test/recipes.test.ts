import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs", "recipes.md"), "utf8");

interface Step {
  readonly recipe: string;
  readonly file: string;
  /** Names that the step expects in the file. */
  readonly names: readonly string[];
}

/** Steps of all recipes: the file that each begins with, and the names behind it. */
function steps(): Step[] {
  return page.split(/^## /m).flatMap((section) => {
    const [recipe = ""] = section.split("\n");
    return [...section.matchAll(/^\d+\. `([^`]+)`: (.*)$/gm)].map(([, file = "", text = ""]) => ({
      recipe,
      file,
      names: [...text.matchAll(/`([^`]+)`/g)].flatMap(([, name = ""]) => (isPlace(name) ? [] : [name])),
    }));
  });
}

/** A path or a command, which is not a name in the file. */
function isPlace(name: string): boolean {
  return name.includes("/") || name.includes(" ") || name === "client.request" || name === "Routes";
}

describe("the recipes", () => {
  it("are those for a provider, an event kind, a route, a column, a tool and a page part", () => {
    const recipes = [...new Set(steps().map(({ recipe }) => recipe))];
    expect(recipes).toEqual([
      "A provider",
      "An event kind",
      "A route with its verb",
      "A column",
      "A tool",
      "A page part",
    ]);
  });

  it.each(steps().map((step) => [`${step.recipe}: ${step.file}`, step] as const))(
    "%s has what they name",
    (_, step) => {
      const text = readFileSync(join(root, step.file), "utf8");
      // "ProviderStreamEvent" is what the fold returns; names may be imported there.
      expect(step.names.filter((name) => !text.includes(name))).toEqual([]);
    },
  );

  it("name folders and files that exist, and every file ends with its kind", () => {
    const places = [...page.matchAll(/`((?:packages|apps|test|proof|docs)\/[^`\s]+)`/g)].map(
      ([, path = ""]) => path,
    );
    expect(places.length).toBeGreaterThan(40);
    const missing = places.filter((path) => !existsSync(join(root, path)));
    expect(missing).toEqual([]);
    const folders = places.filter((path) => path.endsWith("/"));
    expect(folders.filter((path) => !statSync(join(root, path)).isDirectory())).toEqual([]);
  });
});
