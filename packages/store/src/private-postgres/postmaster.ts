import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isThere } from "../folder/running-process.js";

/** A server's main process, as it describes itself in its folder. */
export interface Postmaster {
  readonly pid: number;
  readonly status: "starting" | "ready" | "stopping" | "other";
}

/** Reads what the server's file says. Undefined where there is none, or it is only being written. */
function readPostmaster(data: string): Postmaster | undefined {
  const lines = readIfThere(join(data, "postmaster.pid"))?.split("\n") ?? [];
  const pid = Number(lines[0]);
  if (!(pid > 1)) return undefined;
  const status = lines[7]?.trim();
  const isKnown = status === "starting" || status === "ready" || status === "stopping";
  return { pid, status: isKnown ? status : "other" };
}

/** The main process of the server that runs on this folder. One of another folder, or another program, is none. */
export function findPostmaster(data: string): Postmaster | undefined {
  const found = readPostmaster(data);
  return found !== undefined && isPostmasterOf(found.pid, data) ? found : undefined;
}

/** True while this process is the main process of a server on this folder. */
export function isPostmasterOf(pid: number, data: string): boolean {
  if (!isThere(pid)) return false;
  const place = workingFolder(pid);
  if (place !== undefined) return place === identityOf(data);
  try {
    return execFileSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" }).includes(data);
  } catch {
    return false;
  }
}

/** How old a lock file without a number must be to be taken for one that a killed server left behind. */
const freshMs = 1_000;

/**
 * Makes the lock files of a killed server say that it is gone, and those that came with a copy of the folder. The number in
 * them may belong to another program by now, or to the server of the original, for which PostgreSQL would take it for a
 * server that runs here. Its own start's ancestor it takes for what it is, so that goes in its place: by the rest of the
 * file PostgreSQL finds processes that the killed server has left behind. A server that is only just starting, left
 * behind by a process that was killed meanwhile, keeps its files.
 */
export function disownPostmaster(data: string, ancestor: number): void {
  for (const name of ["postmaster.pid", ".s.PGSQL.5432.lock"]) {
    const path = join(data, name);
    const text = readIfThere(path);
    if (text === undefined) continue;
    const [first, ...rest] = text.split("\n");
    const pid = Number(first);
    if (!(pid > 0)) {
      if (ageMs(path) > freshMs) rmSync(path, { force: true });
    } else if (isThere(pid) && !isPostmasterOf(pid, data)) {
      writeFileSync(path, [ancestor, ...rest].join("\n"));
    }
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function ageMs(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? 0 : Date.now() - found.mtimeMs;
}

/** The identity of a process's working folder, where the system tells. */
function workingFolder(pid: number): string | undefined {
  return identityOf(`/proc/${pid}/cwd`);
}

function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
