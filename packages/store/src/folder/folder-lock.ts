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
import { setTimeout as delay } from "node:timers/promises";
import { isParleyError, ParleyError } from "@parley/core/errors";
import { folderIdentity } from "./folder-identity.js";
import { codeOf, isRunning, type ProcessName, thisProcess } from "./running-process.js";

/** The holder of a folder, as the lock file names it. */
interface Holder extends ProcessName {
  readonly nonce: string;
  /** The folder that was locked: the lock file of a copied folder names another one. */
  readonly folder?: string | undefined;
  readonly since: string;
}

export interface FolderLock {
  release(): void;
}

/** Returns true if a folder was refused because another process has it. */
function isFolderBusy(error: unknown): error is ParleyError {
  return isParleyError(error) && error.code === "store_unavailable" && error.details?.folder !== undefined;
}

/** Takes a folder as `lockFolder` does, and waits a limited time while another process has it. */
export async function awaitFolder(folder: string, limitMs: number): Promise<FolderLock> {
  for (const end = performance.now() + limitMs; ; ) {
    try {
      return await lockFolder(folder);
    } catch (error) {
      if (!isFolderBusy(error) || performance.now() >= end) throw error;
    }
    await delay(betweenMs);
  }
}

const lockName = "parley.lock";
/** Interval at which the holder renews its file: another machine relies on it. */
const renewMs = 10_000;
/** Age of the file at which a holder on another machine counts as gone. */
const goneMs = 60_000;
/** Pause before a folder that another process has is tried again. */
const betweenMs = 20;

/**
 * Takes a folder for this process. PGlite itself has no lock, and two processes on one folder destroy it.
 *
 * The lock is a file that is created exclusively and names its holder. A holder that crashed leaves the file behind;
 * the next process sees that the holder is gone and removes the file, under a second, short-lived lock, so that of two
 * processes that see it at once only one does. On the same machine the process table decides, on another one the file's
 * age. A lock file that was copied along with its folder has no effect.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  // Other users of this machine must not read conversations.
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, lockName);
  const own: Holder = {
    nonce: randomUUID(),
    ...thisProcess(),
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

/** Creates the file. Returns true if it is new and ours. */
function create(path: string, holder: Holder): boolean {
  let file: number;
  try {
    file = openSync(path, "wx", 0o600);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw unusable(path, error);
  }
  try {
    // A disk that is almost full writes only a part, and reports it with the next write.
    const name = Buffer.from(JSON.stringify(holder));
    for (let at = 0; at < name.length; ) at += writeSync(file, name, at);
  } catch (error) {
    // Left behind without a name, it would block the folder for the next process.
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
    // Read again behind the turnstile: a process that passed before may hold the folder by now, or be writing its name.
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

/** Returns true if no other process is behind the turnstile. One that a crash left there is removed after a while. */
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
    // Left behind, or gone since: in that case there is nothing to remove, and the next attempt decides.
    if (Number.isFinite(age)) await rm(turnstile, { recursive: true, force: true });
  }
  return false;
}

/** Returns true if the holder runs and locked this folder, not the one that this folder was copied from. */
function isHeld(path: string, holder: Holder, own: Holder): boolean {
  // Another machine may number devices differently. A copy of its lock is not renewed, so the file's age decides.
  if (holder.host !== hostname()) return ageMs(path) < goneMs;
  if (holder.folder !== undefined && holder.folder !== own.folder) return false;
  return isRunning(holder);
}

/** A file without content belongs to a process that is just writing it, or that died doing so. */
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
    // The folder is gone; the database will report it.
  }
}

function ageMs(path: string): number {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return Number.POSITIVE_INFINITY;
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
