import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
} from "node:fs";
import { readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { isParleyError, ParleyError } from "@parley/core/errors";
import { checkSpace } from "../folder/disk-space.js";
import { codeOf } from "../folder/running-process.js";
import type { PostgresBinaries } from "./binaries.js";
import { dataArgument, layoutAt, type ServerLayout } from "./layout.js";
import { type ServerUser, serverUser } from "./server-user.js";
import { superuser } from "./settings.js";

/** Environment of PostgreSQL's programs, independent of this process's own. */
export const serverEnvironment = { LC_ALL: "C", TZ: "UTC", PATH: "/usr/bin:/bin:/usr/sbin:/sbin" };

/** Ending of a folder that is still being created. */
const draftEnding = ".new";

/** Returns true if a private server's files are complete. Refuses those of another user, which cannot be seen. */
export function hasCluster({ home, data }: ServerLayout): boolean {
  try {
    return statSync(join(data, "PG_VERSION"), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (codeOf(error) !== "EACCES") return false;
    throw new ParleyError(
      "store_unavailable",
      `The files in ${home} belong to another user. Open the store as that user, or as root if root has made it.`,
      { retryable: false, details: { reason: "other_user" }, cause: error },
    );
  }
}

/**
 * Gives the files to the server's user and closes them to others, in case a copy of the folder has lost that:
 * PostgreSQL requires both to start.
 */
export function claimCluster({ home, data, users }: ServerLayout): void {
  // Some copies leave out empty folders such as this one.
  if (!existsSync(users)) makeServerFolder(users);
  const user = serverUser();
  const { uid, mode } = statSync(data);
  if (user !== undefined && uid !== user.uid) chownTree(home, user);
  if ((mode & 0o777) !== 0o700) chmodSync(data, 0o700);
}

function chownTree(path: string, user: ServerUser): void {
  lchownSync(path, user.uid, user.gid);
  if (!lstatSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) chownTree(join(path, name), user);
}

/** Returns the major version that created a private server's files. */
export function clusterMajor({ data }: ServerLayout): number {
  return Number.parseInt(readFileSync(join(data, "PG_VERSION"), "utf8"), 10);
}

/**
 * Creates the files of a private server beside their place, and moves them there when they are complete: a crash leaves
 * no partial ones. The caller holds the lock of the folder, so what an earlier crash left can be removed.
 */
export async function createCluster(
  { home }: ServerLayout,
  binaries: PostgresBinaries,
  options: { readonly durable: boolean },
): Promise<void> {
  const parent = dirname(home);
  checkSpace(parent, "create");
  await removeDrafts(home);
  const draft = layoutAt(`${home}.${randomUUID()}${draftEnding}`);
  try {
    for (const folder of [draft.home, draft.data, draft.users]) makeServerFolder(folder);
    await runInitdb(draft, binaries, options);
    await rename(draft.home, home);
  } catch (error) {
    throw notCreated(error);
  } finally {
    await removeFolder(draft.home);
  }
}

/** Creates a folder that only the server's user can enter. */
function makeServerFolder(path: string): void {
  mkdirSync(path, { mode: 0o700 });
  giveToServer(path);
}

/** Hands a file or folder over to the user that the server runs as. */
export function giveToServer(path: string): void {
  const user = serverUser();
  if (user !== undefined) chownSync(path, user.uid, user.gid);
}

/**
 * Size of a file of the write-ahead log, in MB. A server that ended on a full disk needs one more of them before it
 * starts again, so small ones need less space to be freed; a new folder is smaller, too.
 */
const walSegmentMb = 4;

async function runInitdb(
  { data }: ServerLayout,
  { bin }: PostgresBinaries,
  { durable }: { readonly durable: boolean },
): Promise<void> {
  const args = [
    `--pgdata=${dataArgument(data)}`,
    `--username=${superuser}`,
    ...["--auth=trust", "--encoding=UTF8", "--locale=C", "--no-instructions"],
    `--wal-segsize=${walSegmentMb}`,
    ...(durable ? [] : ["--no-sync"]),
  ];
  try {
    await promisify(execFile)(join(bin, "initdb"), args, {
      ...serverUser(),
      cwd: data,
      env: serverEnvironment,
    });
  } catch (error) {
    const said: unknown = error instanceof Error ? Reflect.get(error, "stderr") : undefined;
    const lines = String(said || error)
      .trim()
      .split("\n");
    throw new Error(lines.find((line) => /error:|FATAL:/.test(line)) ?? lines[0], { cause: error });
  }
}

/** Removes files on which no server has run yet. */
export async function removeCluster({ home }: ServerLayout): Promise<void> {
  await removeFolder(home);
}

/** Creates the failure to create a private server where none has been: PGlite can be used instead. */
export function notCreated(cause: unknown): ParleyError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ParleyError("store_unavailable", `PostgreSQL could not be set up in this folder: ${why}`, {
    retryable: false,
    details: { reason: "not_created" },
    cause,
  });
}

/** Returns true if a private server could not be created, and nothing of it is left. */
export function isNotCreated(error: unknown): error is ParleyError {
  return isParleyError(error) && error.details?.reason === "not_created";
}

/** Removes what a process left behind that was killed while it created a cluster. */
async function removeDrafts(home: string): Promise<void> {
  const parent = dirname(home);
  for (const name of await readdir(parent)) {
    const path = join(parent, name);
    if (path.startsWith(`${home}.`) && path.endsWith(draftEnding)) await removeFolder(path);
  }
}

/** Removes a folder. An `initdb` that was left behind may write once more: then the next call removes the rest. */
async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }).catch(() => undefined);
}
