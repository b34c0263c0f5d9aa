import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** A process, named so that a later one with the same number is not confused with it. */
export interface ProcessName {
  readonly pid: number;
  readonly host: string;
  /** Time at which the process began, by its kernel: a later process with the same id has another one. */
  readonly processStart: string | undefined;
}

/** Returns the name of this process. */
export function thisProcess(): ProcessName {
  return { pid: process.pid, host: hostname(), processStart: processStart(process.pid) };
}

/** Returns true while a process of this machine runs. One that has ended and was not yet waited for counts as gone. */
export function isRunning({ pid, processStart: begun }: Omit<ProcessName, "host">): boolean {
  if (!isThere(pid)) return false;
  const start = processStart(pid);
  return start === undefined || begun === undefined || start === begun;
}

/** Returns true if any process has this number. */
export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // It exists, but this process may not signal it.
    if (codeOf(error) !== "EPERM") return false;
  }
  // It may never be waited for: a process 1 in a container need not collect what it inherits.
  return !/^[ZX]$/.test(kernelFields(pid)?.[0] ?? "");
}

/** Returns the kernel's start time of a process, and of the system, if it provides them. */
export function processStart(pid: number): string | undefined {
  const started = kernelFields(pid)?.[19];
  if (started === undefined) return undefined;
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}/${started}`;
  } catch {
    return undefined;
  }
}

/** Returns the fields of `/proc/<pid>/stat` after the name: state, parent, and so on. */
function kernelFields(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ");
  } catch {
    return undefined;
  }
}

/** Returns the code of a system error, such as `ENOENT`. */
export function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
