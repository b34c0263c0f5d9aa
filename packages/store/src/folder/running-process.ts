import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** A process, named so that a later one with the same number is not taken for it. */
export interface ProcessName {
  readonly pid: number;
  readonly host: string;
  /** When the process began, by its kernel: a number that a later process with the same id does not have. */
  readonly processStart: string | undefined;
}

/** The name of this process. */
export function thisProcess(): ProcessName {
  return { pid: process.pid, host: hostname(), processStart: processStart(process.pid) };
}

/** True while a process of this machine runs. One that has ended and was not yet waited for counts as gone. */
export function isRunning({ pid, processStart: begun }: Omit<ProcessName, "host">): boolean {
  if (!isThere(pid)) return false;
  const start = processStart(pid);
  return start === undefined || begun === undefined || start === begun;
}

/** True where a process has this number, whoever it is. */
export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Not ours to signal, but there.
    if (codeOf(error) !== "EPERM") return false;
  }
  // Nobody may ever wait for it: a process 1 in a container need not collect what it inherits.
  return !/^[ZX]$/.test(kernelFields(pid)?.[0] ?? "");
}

/** The kernel's start time of a process, and of the system, where it tells them. */
export function processStart(pid: number): string | undefined {
  const started = kernelFields(pid)?.[19];
  if (started === undefined) return undefined;
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}/${started}`;
  } catch {
    return undefined;
  }
}

/** The fields of `/proc/<pid>/stat` behind the name: state, parent, and so on. */
function kernelFields(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ");
  } catch {
    return undefined;
  }
}

/** The code of a system error, such as `ENOENT`. */
export function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
