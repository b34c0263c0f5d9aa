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
  let lines: string[];
  try {
    lines = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
  } catch {
    return undefined;
  }
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

/**
 * Makes what a killed server left behind say so, or what came with a copy of the folder. The number in its file may belong
 * to another program by now, or to the server of the original, for which PostgreSQL would take it for a server that runs
 * here; its own start's ancestor it takes for what it is. The rest of the file stays: PostgreSQL finds processes by it
 * that the killed server has left behind. The socket and its lock file say nothing more.
 */
export function disownPostmaster(data: string, ancestor: number): void {
  for (const name of [".s.PGSQL.5432", ".s.PGSQL.5432.lock"]) rmSync(join(data, name), { force: true });
  const found = readPostmaster(data);
  if (found === undefined || !isThere(found.pid)) return;
  const path = join(data, "postmaster.pid");
  const [, ...rest] = readFileSync(path, "utf8").split("\n");
  writeFileSync(path, [ancestor, ...rest].join("\n"));
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
