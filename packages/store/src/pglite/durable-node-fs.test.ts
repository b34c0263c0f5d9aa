import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { builtFile } from "../built-file.js";

const base = mkdtempSync(join(tmpdir(), "parley-fsync-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const commits = 50;

/** Commits rows one by one in a separate process, and counts the waits for the disk. */
async function countSyncs(durable: boolean): Promise<number> {
  const script = `
    import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    let syncs = 0;
    const real = fs.fdatasyncSync;
    fs.fdatasyncSync = (file) => { syncs += 1; real(file); };
    syncBuiltinESMExports();
    const { PGlite } = await import("@electric-sql/pglite");
    const { DurableNodeFS, startParams } = await import(${JSON.stringify(pathToFileURL(builtFile("pglite/durable-node-fs.js")).href)});
    const folder = ${JSON.stringify(join(base, String(durable)))};
    const db = await PGlite.create(${durable} ? { fs: new DurableNodeFS(folder), startParams: startParams({ durable: true }) } : { dataDir: folder });
    await db.exec("CREATE TABLE t (n int)");
    const before = syncs;
    for (let n = 0; n < ${commits}; n += 1) await db.query("INSERT INTO t VALUES ($1)", [n]);
    console.log(syncs - before);
    await db.close();
    process.exit(0);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
    cwd: import.meta.dirname,
  });
  return Number(stdout.trim());
}

describe("the embedded database on disk", () => {
  it("waits for the disk at every commit", async () => {
    expect(await countSyncs(true)).toBeGreaterThanOrEqual(commits);
  });

  it("would not without our file system, which is what the test above relies on", async () => {
    expect(await countSyncs(false)).toBe(0);
  });
});
