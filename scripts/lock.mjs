// One process at a time: a lock is a file that names its holding process, touched while it is held.
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const touchEveryMs = 2_000;
/** A process id may be reused, and one on another machine cannot be checked: silence this long means dead. */
const silentMs = 30_000;

/**
 * Runs `work` while holding the lock. Waits for a living holder (calling `onWait` once), takes over from a
 * dead one.
 */
export async function withLock(path, onWait, work) {
  mkdirSync(dirname(path), { recursive: true });
  let isReported = false;
  while (!tryLock(path)) {
    const holder = readHolder(path);
    if (holder && !isAlive(holder)) {
      takeAway(path, holder);
    } else {
      if (holder && !isReported) onWait(holder.pid);
      isReported ||= holder !== undefined;
      await delay(100);
    }
  }
  const touching = setInterval(() => touch(path), touchEveryMs);
  try {
    return await work();
  } finally {
    clearInterval(touching);
    rmSync(path, { force: true });
  }
}

/** Creates the file with its content in one step (a hard link), so a lock is never read without a holder. */
function tryLock(path) {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, JSON.stringify({ pid: process.pid, host: hostname() }));
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

function readHolder(path) {
  try {
    return { ...JSON.parse(readFileSync(path, "utf8")), touchedAt: statSync(path).mtimeMs };
  } catch {
    return undefined; // released between two checks
  }
}

function isAlive(holder) {
  if (Date.now() - holder.touchedAt > silentMs) return false;
  if (holder.host !== hostname()) return true;
  if (holder.pid === process.pid) return false; // a reused id: this process holds nothing yet
  try {
    process.kill(holder.pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM"; // alive, and of another user
  }
}

/**
 * Removes the lock of a dead holder. Two waiters may find the same one: only one that still sees it removes
 * the file.
 */
function takeAway(path, dead) {
  const now = readHolder(path);
  if (now && now.pid === dead.pid && now.touchedAt === dead.touchedAt) rmSync(path, { force: true });
}

function touch(path) {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // Taken over (this process was asleep for long): the work continues, `npm ci` and `tsc` tolerate a second
    // one.
  }
}
