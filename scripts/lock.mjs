// One process at a time: a lock is a file that names the process that holds it, touched while it is held.
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const touchEveryMs = 2_000;
/** A process number may be used again, and one on another machine cannot be asked: silence this long means dead. */
const silentMs = 30_000;

/** Runs `work` while holding the lock. Waits for a living holder (telling `onWait` once), takes over from a dead one. */
export async function withLock(path, onWait, work) {
  mkdirSync(dirname(path), { recursive: true });
  let told = false;
  while (!tryLock(path)) {
    const holder = readHolder(path);
    if (holder && !isAlive(holder)) {
      takeAway(path, holder);
    } else {
      if (holder && !told) onWait(holder.pid);
      told ||= holder !== undefined;
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

/** The file appears with its content in one step (a hard link), so nobody ever reads a lock without a holder. */
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
    return undefined; // released between two looks
  }
}

function isAlive(holder) {
  if (Date.now() - holder.touchedAt > silentMs) return false;
  if (holder.host !== hostname()) return true;
  if (holder.pid === process.pid) return false; // a number used again: this process holds nothing yet
  try {
    process.kill(holder.pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM"; // alive, and somebody else's
  }
}

/** Two waiters may find the same dead holder: only one that still sees it removes the file. */
function takeAway(path, dead) {
  const now = readHolder(path);
  if (now && now.pid === dead.pid && now.touchedAt === dead.touchedAt) rmSync(path, { force: true });
}

function touch(path) {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // Taken away (this process was asleep for long): the work goes on, `npm ci` and `tsc` bear a second one.
  }
}
