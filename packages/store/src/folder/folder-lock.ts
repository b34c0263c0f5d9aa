import { randomUUID } from "node:crypto";
import {
  closeSync,
  openSync,
  readFileSync,
  rmdirSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { ParleyError } from "@parley/core/errors";
import { folderIdentity } from "./folder-identity.js";

/** Who holds a folder, as it stands in the lock file. */
interface Holder {
  readonly nonce: string;
  readonly pid: number;
  readonly host: string;
  /** When the process began, by its kernel: a number that a later process with the same id does not have. */
  readonly processStart: string | undefined;
  /** The folder that was locked: the lock file of a copied folder names another one. */
  readonly folder?: string | undefined;
  readonly since: string;
}

export interface FolderLock {
  release(): void;
}

const lockName = "parley.lock";
/** How often the holder says that it lives: what another machine goes by. */
const renewMs = 10_000;
/** After how long without that a holder on another machine counts as gone. */
const goneMs = 60_000;

/**
 * Takes a folder for this process. PGlite itself has no lock, and two processes on one folder destroy it.
 *
 * The lock is a file that is created exclusively and names its holder. A holder that crashed leaves the file behind;
 * whoever comes next sees that its process is gone and takes the file away, under a second, short-lived lock, so that
 * of two who see it at once only one does. On the same machine the process table decides, on another one the file's
 * age. A lock file that was copied along with its folder locks nothing.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, lockName);
  const own: Holder = {
    nonce: randomUUID(),
    pid: process.pid,
    host: hostname(),
    processStart: processStart(process.pid),
    folder: folderIdentity(folder),
    since: new Date().toISOString(),
  };
  if (!create(path, own)) await replaceDead(path, own, folder);
  const renewal = setInterval(() => renew(path), renewMs);
  renewal.unref();
  let released = false;
  const release = () => {
    if (released) return;
    released = true;
    clearInterval(renewal);
    process.off("exit", release);
    if (read(path)?.nonce === own.nonce) unlinkSync(path);
  };
  process.once("exit", release);
  return { release };
}

/** True when the file is new and ours. */
function create(path: string, holder: Holder): boolean {
  let file: number;
  try {
    file = openSync(path, "wx", 0o600);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw unusable(path, error);
  }
  try {
    // A disk that is almost full takes a part, and says so only with the next write.
    const name = Buffer.from(JSON.stringify(holder));
    for (let at = 0; at < name.length; ) at += writeSync(file, name, at);
  } catch (error) {
    // Left behind without a name, it would keep the folder from the next one.
    unlinkIfThere(path);
    throw unusable(path, error);
  } finally {
    closeSync(file);
  }
  return true;
}

async function replaceDead(path: string, own: Holder, folder: string): Promise<void> {
  const holder = read(path);
  if (holder === undefined ? isFresh(path) : isHeld(path, holder, own)) throw busy(folder, holder);
  const turnstile = `${path}.taking`;
  if (!(await enter(turnstile))) throw busy(folder, holder);
  try {
    // Looked at again behind the turnstile: whoever passed before may hold the folder by now, or be writing its name.
    const found = read(path);
    const held =
      found === undefined ? isFresh(path) : found.nonce !== holder?.nonce || isHeld(path, found, own);
    if (held) throw busy(folder, found);
    unlinkIfThere(path);
    if (!create(path, own)) throw busy(folder, read(path));
  } finally {
    rmdirSync(turnstile);
  }
}

/** True when nobody else is behind the turnstile. One that was left there by a crash is taken away after a while. */
async function enter(turnstile: string): Promise<boolean> {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    try {
      await mkdir(turnstile);
      return true;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
    const age = ageMs(turnstile);
    if (age < goneMs) return false;
    // Left behind, or gone since: then there is nothing to take away, and the next attempt decides.
    if (Number.isFinite(age)) await rm(turnstile, { recursive: true, force: true });
  }
  return false;
}

/** True when the holder runs and locked this folder, not the one that this folder was copied from. */
function isHeld(path: string, holder: Holder, own: Holder): boolean {
  // Another machine may number devices differently. Nobody renews a copy of its lock, so the file's age decides.
  if (holder.host !== hostname()) return ageMs(path) < goneMs;
  if (holder.folder !== undefined && holder.folder !== own.folder) return false;
  return isAlive(holder);
}

function isAlive(holder: Holder): boolean {
  // The lock of this very process: a second store on the same folder.
  if (holder.pid === process.pid && holder.processStart === processStart(process.pid)) return true;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // Not ours to signal, but there.
    if (codeOf(error) !== "EPERM") return false;
  }
  const start = processStart(holder.pid);
  return start === undefined || holder.processStart === undefined || start === holder.processStart;
}

/** A file without content belongs to someone who is just writing it, or who died doing so. */
function isFresh(path: string): boolean {
  return ageMs(path) < 5_000;
}

function read(path: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Holder;
  } catch {
    return undefined;
  }
}

function renew(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // The folder is gone; the database will say so.
  }
}

function ageMs(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The kernel's start time of a process, and of the system, where it tells them. */
function processStart(pid: number): string | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ");
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot}/${fields?.[19]}`;
  } catch {
    return undefined;
  }
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

function unusable(path: string, cause: unknown): ParleyError {
  const why = codeOf(cause) === "ENOSPC" ? "the disk is full" : String(codeOf(cause) ?? cause);
  return new ParleyError("store_unavailable", `The lock file ${path} cannot be written: ${why}`, {
    retryable: false,
    cause,
  });
}

function busy(folder: string, holder: Holder | undefined): ParleyError {
  const who =
    holder === undefined
      ? "another process"
      : `process ${holder.pid}${holder.host === hostname() ? "" : ` on ${holder.host}`}, since ${holder.since}`;
  return new ParleyError(
    "store_unavailable",
    `The folder ${folder} is in use by ${who}. End it, or use another folder or a PostgreSQL server.`,
    {
      retryable: false,
      details: { folder, ...(holder === undefined ? {} : { pid: holder.pid, host: holder.host }) },
    },
  );
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
