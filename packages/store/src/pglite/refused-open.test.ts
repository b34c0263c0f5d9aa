import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { expect, it, vi } from "vitest";
import { databaseFolder } from "./create-folder.js";
import { openPglite } from "./index.js";

/** Number of running threads, and their numbers at each release of a lock. */
const threads = vi.hoisted(() => ({ running: 0, started: 0, atRelease: [] as number[] }));

vi.mock("node:worker_threads", async (original) => {
  const module = await original<typeof import("node:worker_threads")>();
  return {
    ...module,
    Worker: class extends module.Worker {
      constructor(...given: ConstructorParameters<typeof Worker>) {
        super(...given);
        threads.started += 1;
        threads.running += 1;
        this.once("exit", () => {
          threads.running -= 1;
        });
      }
    },
  };
});

vi.mock("../folder/folder-lock.js", async (original) => {
  const module = await original<typeof import("../folder/folder-lock.js")>();
  return {
    ...module,
    async lockFolder(folder: string) {
      const lock = await module.lockFolder(folder);
      return {
        ...lock,
        release() {
          threads.atRelease.push(threads.running);
          lock.release();
        },
      };
    },
  };
});

/** Changes the database as another program would while no process has the folder. */
async function change(folder: string, sql: string): Promise<void> {
  const database = await PGlite.create(databaseFolder(folder));
  await database.exec(sql);
  await database.close();
}

it("a folder whose schema is newer is refused, and free only when its database is closed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-refused-"));
  try {
    await (await openPglite({ folder })).store.close();
    await change(folder, "INSERT INTO parley.schema_migration (place, name) VALUES (9999, '9999_later')");
    await expect(openPglite({ folder })).rejects.toMatchObject({ code: "schema_newer" });
    expect(threads).toEqual({ started: 2, running: 0, atRelease: [0, 0] });
    expect(existsSync(join(folder, "parley.lock"))).toBe(false);
    await change(folder, "DELETE FROM parley.schema_migration WHERE place = 9999");
    await (await openPglite({ folder })).store.close();
    expect(threads).toEqual({ started: 3, running: 0, atRelease: [0, 0, 0] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 120_000);
