import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ParleyError } from "@parley/core/errors";
import type { PostgresBinaries } from "./binaries.js";
import { giveToServer, serverEnvironment } from "./create-cluster.js";
import { dataArgument, type ServerLayout } from "./layout.js";
import { disownPostmaster, findPostmaster } from "./postmaster.js";
import { failureInLog, logLength, openLog, shortenLog } from "./server-log.js";
import { serverUser } from "./server-user.js";
import { access, configuration, newerSettings } from "./settings.js";
import { socketFolder } from "./socket-folder.js";

/** Inputs of a server's start. */
export interface ServerStart {
  readonly layout: ServerLayout;
  readonly binaries: PostgresBinaries;
  /** True if a commit waits for the disk. */
  readonly durable: boolean;
}

/** Time that a server may take to start, most of it for replaying its log, and the interval between checks. */
const startMs = { limit: 120_000, between: 5 };

/**
 * Pauses between attempts. Processes that a killed server left behind end by themselves within moments, and until then
 * PostgreSQL refuses to start.
 */
const pausesMs = [50, 100, 200, 400, 800];

/**
 * Runs the server, and stops it when none of its users has run for some seconds: a killed process cannot do that
 * itself, and the next one may come at once. The users are checked only when the process that started the server is
 * gone, which closes the pipe at 3.
 */
const guard = `
"$@" 3<&- &
server=$!
(
  while read -r _; do :; done
  empty=0
  while [ "$empty" -lt 3 ]; do
    sleep 1
    empty=$((empty + 1))
    for file in ../users/*; do
      pid=\${file##*/}
      pid=\${pid%%.*}
      [ -e "$file" ] || continue
      if [ -e /proc/self ]; then
        case $(sed -n 's/^State:[[:space:]]*//p' "/proc/$pid/status" 2>/dev/null) in ''|Z*|X*) continue ;; esac
      else
        kill -0 "$pid" 2>/dev/null || continue
      fi
      empty=0
    done
  done
  kill -INT "$server"
) <&3 &
guard=$!
exec 3<&-
wait "$server"
status=$?
kill "$guard" 2>/dev/null
exit "$status"`;

/**
 * Finds the server that runs on a folder, or starts one, and resolves with its process id when it accepts connections.
 * The caller holds the lock of the store's folder.
 */
export async function ensureServer(start: ServerStart): Promise<number> {
  const { data, log } = start.layout;
  const end = performance.now() + startMs.limit;
  for (let attempt = 0; ; ) {
    const found = findPostmaster(data);
    if (found?.status === "ready") return found.pid;
    if (performance.now() > end) throw notStarted(log, "it takes longer than it should");
    if (found !== undefined) {
      // A process that was killed while it started or stopped the server left it behind.
      await delay(startMs.between);
      continue;
    }
    const failure = await runServer(start, end);
    if (failure === undefined) continue;
    const pause = pausesMs[attempt];
    attempt += 1;
    if (pause === undefined) throw notStarted(log, failure);
    await delay(pause);
  }
}

/** Starts the server. Resolves when it is ready, or with its output when it has ended instead. */
async function runServer(start: ServerStart, end: number): Promise<string | undefined> {
  const { data, log } = start.layout;
  writeConfiguration(start);
  disownPostmaster(data, process.pid);
  shortenLog(log);
  const from = logLength(log);
  const child = spawnServer(start);
  let ended: string | undefined;
  child.once("error", (error) => {
    ended = error.message;
  });
  child.once("exit", (code, signal) => {
    ended ??= failureInLog(log, from) ?? `it ended with ${signal ?? `exit code ${code}`}`;
  });
  while (ended === undefined && performance.now() < end) {
    if (findPostmaster(data)?.status === "ready") return undefined;
    await delay(startMs.between);
  }
  return ended;
}

/**
 * Starts the server in a separate session, so that an interrupt at the terminal reaches only this process, which then
 * stops it.
 */
function spawnServer({ layout, binaries }: ServerStart): ChildProcess {
  const log = openLog(layout.log);
  try {
    const command = [join(binaries.bin, "postgres"), "-D", dataArgument(layout.data)];
    const child = spawn("/bin/sh", ["-c", guard, "parley-postgres", ...command], {
      ...serverUser(),
      cwd: layout.data,
      detached: true,
      // PostgreSQL considers a lock file with this number left behind.
      env: { ...serverEnvironment, PG_GRANDPARENT_PID: String(process.pid) },
      stdio: ["ignore", log, log, "pipe"],
    });
    child.unref();
    const pipe = child.stdio[3];
    pipe?.on("error", () => undefined);
    if (pipe !== null && pipe !== undefined && "unref" in pipe && typeof pipe.unref === "function") {
      pipe.unref();
    }
    return child;
  } finally {
    closeSync(log);
  }
}

function writeConfiguration({ layout, binaries, durable }: ServerStart): void {
  const { data } = layout;
  const settings = configuration({ durable, socketFolder: socketFolder(data) });
  for (const [name, text] of [
    ["postgresql.conf", settings + newerSettings(binaries.major)],
    ["pg_hba.conf", access],
  ] as const) {
    // Moved into place: a server that a killed process left behind may be reading it.
    const draft = join(data, `${name}.new`);
    writeFileSync(draft, text, { mode: 0o600 });
    giveToServer(draft);
    renameSync(draft, join(data, name));
  }
}

function notStarted(log: string, why: string): ParleyError {
  return new ParleyError("store_unavailable", `The store's PostgreSQL does not start: ${why} (see ${log})`, {
    details: { reason: "not_started", log },
  });
}
