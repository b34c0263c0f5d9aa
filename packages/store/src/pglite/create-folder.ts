import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { ParleyError } from "@parley/core/errors";
import { builtFile } from "../built-file.js";
import { checkSpace } from "../folder/disk-space.js";

/** Returns the database's folder in a store's folder. */
export function databaseFolder(folder: string): string {
  return join(folder, "database");
}

/**
 * Creates the database's files, once. A short-lived process does it: creating them takes 800 MB of memory that a
 * long-lived one would keep. The files are created beside their place and moved there when they are complete, so that a
 * crash leaves no partial database.
 */
export async function createDatabaseFolder(folder: string): Promise<void> {
  const target = databaseFolder(folder);
  if (existsSync(target)) return;
  await mkdir(folder, { recursive: true });
  checkSpace(folder, "create");
  const draft = join(folder, `database.${randomUUID()}.new`);
  try {
    await runCreation(draft);
    await rename(draft, target);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

function runCreation(draft: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = fork(builtFile("pglite/create-folder-process.js"), [draft], {
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      execArgv: [],
    });
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      said = `${said}${chunk}`.slice(-2_000);
    });
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      if (code === 0) return resolve();
      const why = said.trim().split("\n").at(-1) ?? "";
      const message =
        `The embedded database could not be created (${signal ?? `exit code ${code}`}) ${why}`.trim();
      reject(new ParleyError("store_unavailable", message, { retryable: false }));
    });
  });
}
