import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { chownSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { PostgresBinaries } from "./postgres-binaries.js";
import { postgresUser, serverEnvironment } from "./postgres-user.js";
import { makeTemporaryFolder } from "./temporary-folder.js";

const user = "parley";

/**
 * Creates a fresh cluster in `data`, which must not exist yet, and resolves with its `user:password`. `initdb` runs
 * once per installation and test run; every other cluster is a copy of its result.
 */
export async function makeCluster(binaries: PostgresBinaries, data: string): Promise<string> {
  const pattern = join(
    tmpdir(),
    `cluster-${createHash("sha256").update(binaries.bin).digest("hex").slice(0, 12)}`,
  );
  if (!existsSync(pattern)) await makePattern(binaries, pattern);
  await run("cp", ["-a", join(pattern, "data"), data]);
  return `${user}:${readFileSync(join(pattern, "password"), "utf8")}`;
}

/**
 * Creates the pattern. Two processes may do this at once: the folder is put in place in one step, and the first one
 * counts.
 */
async function makePattern(binaries: PostgresBinaries, pattern: string): Promise<void> {
  const owner = postgresUser();
  const staging = makeTemporaryFolder(tmpdir(), "new-cluster-", { owner });
  try {
    const secret = join(staging.path, "password");
    writeFileSync(secret, randomBytes(16).toString("hex"), { mode: 0o600 });
    if (owner) chownSync(secret, owner.uid, owner.gid);
    await run(join(binaries.bin, "initdb"), [
      `--pgdata=${join(staging.path, "data")}`,
      `--username=${user}`,
      "--auth=password",
      `--pwfile=${secret}`,
      "--encoding=UTF8",
      "--locale=C",
      "--no-sync",
    ]);
    renameSync(staging.path, pattern);
  } catch (error) {
    if (!existsSync(pattern)) throw error;
  } finally {
    staging.remove();
  }
}

/** Copies the files of a server that does not run. */
export async function copyCluster(data: string, target: string): Promise<void> {
  await run("cp", ["-a", data, target]);
}

/** Lets the server of a copied cluster follow the one that it was copied from. */
export async function markStandby(data: string): Promise<void> {
  await run("touch", [join(data, "standby.signal")]);
}

/** Runs a program. Rejects with its own output. */
async function run(program: string, args: string[]): Promise<void> {
  await promisify(execFile)(program, args, { ...postgresUser(), cwd: "/", env: serverEnvironment });
}
