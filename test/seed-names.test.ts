import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Transcript, TranscriptMessage } from "@parley/providers/transcript";
import { describe, expect, it } from "vitest";

const page = readFileSync(join(import.meta.dirname, "..", "docs", "seed-names.md"), "utf8");
const imports = readFileSync(join(import.meta.dirname, "seed-names.ts"), "utf8");

/** The rows of the page's tables, by section: `S1 Name module`. */
function documented(): string[] {
  return page.split(/^## /m).flatMap((section) => {
    const seed = section.slice(0, 2);
    if (!/^S[1-4]$/.test(seed)) return [];
    return [...section.matchAll(/^\| `(\w+)` \| `([\w@/-]+)` \|$/gm)].map(
      (row) => `${seed} ${row[1]} ${row[2]}`,
    );
  });
}

/** The same of the file that the compiler checks. */
function imported(): string[] {
  return [...imports.matchAll(/\{([^}]*)\} from "([^"]+)"/g)].flatMap(([, names = "", module]) =>
    [...names.matchAll(/(\w+) as (S[1-4])\w+/g)].map(([, name, seed]) => `${seed} ${name} ${module}`),
  );
}

describe("the names of the specifications", () => {
  it("are where the page says: each row of S1 to S4 is an import that compiles", () => {
    expect(documented().length).toBeGreaterThan(90);
    expect(documented().sort()).toEqual(imported().sort());
  });

  it("of S5 exist in TypeScript's case", () => {
    const [, section = ""] = page.split("## S5");
    const rows = [...section.matchAll(/^\| `[\w:]+` \| `([\w. ]+)` \|$/gm)].map(([, name = ""]) => name);
    expect(rows.length).toBeGreaterThan(15);
    const scope: Record<string, object> = { Transcript, TranscriptMessage };
    for (const row of rows) {
      const [first = "", ...members] = row.replace(/^new /, "").split(".");
      const place = members
        .slice(0, -1)
        .reduce((at, name) => Reflect.get(at, name) as object, scope[first] ?? {});
      expect([
        row,
        scope[first] !== undefined,
        members.length === 0 || (members.at(-1) ?? "") in place,
      ]).toEqual([row, true, true]);
    }
  });
});
