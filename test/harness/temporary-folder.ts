import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A folder that is removed: by `remove`, or by the guard when this process ends without calling it. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

let guard: ChildProcess | undefined;

/**
 * Creates a folder below `parent`. `owner` gives it to another user (only root can); `open` lets other users pass
 * through it, without letting them list it.
 */
export function makeTemporaryFolder(
  parent: string,
  prefix: string,
  options: { owner?: { uid: number; gid: number } | undefined; open?: boolean } = {},
): TemporaryFolder {
  const path = mkdtempSync(join(parent, prefix));
  tellGuard(`+ ${path}`);
  if (options.open) chmodSync(path, 0o711);
  if (options.owner) chownSync(path, options.owner.uid, options.owner.gid);
  return {
    path,
    remove() {
      rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
      tellGuard(`- ${path}`);
    },
  };
}

function tellGuard(line: string): void {
  guard ??= startGuard();
  guard.stdin?.write(`${line}\n`);
}

/** Starts the guard, one per process. It must not keep this process alive, and it must outlive it. */
function startGuard(): ChildProcess {
  const child = spawn(process.execPath, [fileURLToPath(new URL("./guard.mjs", import.meta.url))], {
    cwd: "/",
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.unref();
  if (child.stdin && "unref" in child.stdin && typeof child.stdin.unref === "function") child.stdin.unref();
  // Without a guard the tests still run; only the cleanup after a crash is lost.
  child.on("error", () => undefined);
  child.stdin?.on("error", () => undefined);
  return child;
}
