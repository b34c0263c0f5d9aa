import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chooseEngine } from "./choose-engine.js";

const binaries = { bin: "/bin", major: 18 };
const found = async () => binaries;
const missing = async () => ({ reason: "the optional package is not installed" });

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "choose-engine-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const makePglite = () => mkdirSync(join(folder, "database"));
const makePostgres = () => {
  mkdirSync(join(folder, "postgres", "data"), { recursive: true });
  writeFileSync(join(folder, "postgres", "data", "PG_VERSION"), "18\n");
};

describe("the engine of a new folder", () => {
  it("is PostgreSQL where its programs run, else PGlite with the reason", async () => {
    expect(await chooseEngine(folder, undefined, found)).toEqual({ engine: "postgres", binaries });
    expect(await chooseEngine(folder, undefined, missing)).toEqual({
      engine: "pglite",
      reason: "the optional package is not installed",
    });
  });

  it("is the one that is asked for, or none", async () => {
    expect(await chooseEngine(folder, "pglite", found)).toMatchObject({ engine: "pglite" });
    await expect(chooseEngine(folder, "postgres", missing)).rejects.toThrow(
      "needs PostgreSQL, and the optional package is not installed",
    );
  });
});

describe("the engine of a folder", () => {
  it("is the one that made it, and never another one", async () => {
    makePglite();
    expect(await chooseEngine(folder, undefined, found)).toMatchObject({ engine: "pglite" });
    await expect(chooseEngine(folder, "postgres", found)).rejects.toThrow("parley migrate --to postgres");
    // Moved, with the previous files still there.
    makePostgres();
    expect(await chooseEngine(folder, undefined, found)).toMatchObject({ engine: "postgres" });
    await expect(chooseEngine(folder, "pglite", found)).rejects.toMatchObject({ retryable: false });
    await expect(chooseEngine(folder, undefined, missing)).rejects.toThrow("needs PostgreSQL");
  });
});
