import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isThere } from "../folder/running-process.js";

/** A server's main process, as it describes itself in its folder. */
export interface Postmaster {
  readonly pid: number;
  readonly status: "starting" | "ready" | "stopping" | "other";
}

/** Reads the server's file. Returns undefined if there is none, or it is only being written. */
function readPostmaster(data: string): Postmaster | undefined {
  const lines = readIfThere(join(data, "postmaster.pid"))?.split("\n") ?? [];
  const pid = Number(lines[0]);
  if (!(pid > 1)) return undefined;
  const status = lines[7]?.trim();
  const isKnown = status === "starting" || status === "ready" || status === "stopping";
  return { pid, status: isKnown ? status : "other" };
}

/**
 * Finds the main process of the server that runs on this folder. One of another folder, or another program, is ignored.
 */
export function findPostmaster(data: string): Postmaster | undefined {
  const found = readPostmaster(data);
  return found !== undefined && isPostmasterOf(found.pid, data) ? found : undefined;
}

/** Returns true while this process is the main process of a server on this folder. */
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

/** Age from which a lock file without a number counts as left behind by a killed server. */
const freshMs = 1_000;

/**
 * Changes the lock files of a killed server, and those that came with a copy of the folder, so that they say that it is
 * gone. The number in them may belong to another program by now, or to the server of the original, and PostgreSQL would
 * consider that a server that runs here. It recognizes the ancestor of its own start, so that number replaces it: by
 * the rest of the file PostgreSQL finds processes that the killed server has left behind. A server that is only just
 * starting, left behind by a process that was killed meanwhile, keeps its files.
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

/** Returns the identity of a process's working folder, if the system provides it. */
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
