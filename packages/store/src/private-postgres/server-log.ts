import { copyFileSync, openSync, readFileSync, statSync, truncateSync } from "node:fs";

/** The longest log that is kept, twice: the current one and the one before it. */
const longestBytes = 1_000_000;

/** Opens the server's log for writing at its end. */
export function openLog(path: string): number {
  return openSync(path, "a", 0o600);
}

/** Starts the log again when it is long. The server continues to write at its end. */
export function shortenLog(path: string): void {
  try {
    if (statSync(path).size < longestBytes) return;
    copyFileSync(path, `${path}.1`);
    truncateSync(path);
  } catch {
    // A full disk: the log stays as it is until there is space again.
  }
}

/** Returns the lines of the log, from a position on, that name a failure, the last one first. */
export function failureInLog(path: string, from: number): string | undefined {
  const lines = readTail(path, from).split("\n").reverse();
  const line = lines.find((each) => /(FATAL|PANIC|error while loading|could not):?/.test(each));
  return line?.replace(/^.*?(FATAL|PANIC):\s*/, "").trim();
}

/** Returns the length of the log, which is where the next entry begins. */
export function logLength(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function readTail(path: string, from: number): string {
  try {
    return readFileSync(path).subarray(from).toString();
  } catch {
    return "";
  }
}
