// Cleans up after a test process that cannot do it itself: killed, crashed or interrupted.
//
// It receives, line by line on its standard input, which folders exist (`+ path`) and which are gone (`- path`). When
// that pipe ends, however the other side ended, it stops every PostgreSQL server whose files are below a folder that
// is still listed, and removes the folder. It runs in a process group of its own, so that Ctrl-C spares it.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";

const patienceMs = 10_000;
const folders = new Set();

for await (const line of createInterface({ input: process.stdin })) {
  if (line.startsWith("+ ")) folders.add(line.slice(2));
  if (line.startsWith("- ")) folders.delete(line.slice(2));
}
await Promise.all([...folders].map(cleanUp));

async function cleanUp(folder) {
  await Promise.all(postmasters(folder).map(end));
  // A process that is just ending may still write.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

/** Finds running servers: each keeps its process number in the first line of postmaster.pid, beside its data. */
function postmasters(folder) {
  if (!existsSync(folder)) return [];
  const files = [folder, ...readdirSync(folder).map((name) => join(folder, name))].map((at) =>
    join(at, "data", "postmaster.pid"),
  );
  return files
    .filter((file) => existsSync(file))
    .map((file) => Number(readFileSync(file, "utf8").split("\n")[0]));
}

async function end(pid) {
  if (!(pid > 1) || !signal(pid, "SIGQUIT")) return; // SIGQUIT: stop at once, releases shared memory
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await delay(20)) {
    if (!signal(pid, 0)) return;
  }
  signal(pid, "SIGKILL");
}

function signal(pid, name) {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
