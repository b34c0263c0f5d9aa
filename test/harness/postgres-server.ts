import { type ChildProcessByStdio, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import pg from "pg";
import type { PostgresBinaries } from "./postgres-binaries.js";
import { copyCluster, makeCluster, markStandby } from "./postgres-cluster.js";
import { postgresUser, serverEnvironment } from "./postgres-user.js";
import { makeTemporaryFolder } from "./temporary-folder.js";

/** A private server with a cluster of its own: its owner may kill it and start it again. */
export interface PostgresServer {
  /** Of the database `postgres`, with the superuser's password. Stays the same across restarts. */
  readonly url: string;
  readonly name: string;
  readonly major: number;
  /** Ends the server at once, as a crash would (SIGKILL). What was committed is there after `restart`. */
  kill(): Promise<void>;
  /** Stops the server if it runs, and starts it on the same port with the same data. */
  restart(): Promise<void>;
  /** Stops the server and removes its files. Can be called twice. */
  stop(): Promise<void>;
  /**
   * Starts a second server that follows this one, after a restart. From then on a commit here is acknowledged when it is on
   * the disk of both.
   */
  startStandby(): Promise<StandbyServer>;
}

/** A server that follows another one. */
export interface StandbyServer extends PostgresServer {
  /** Ends its following: it takes writes. Resolves when it does. */
  promote(): Promise<void>;
}

/** Settings as PostgreSQL names them, added to (or put in place of) the ones that suit a test. */
export type PostgresSettings = Readonly<Record<string, string>>;

type ServerProcess = ChildProcessByStdio<null, null, Readable>;

/** The system assigns higher ports by itself: a server that restarts could find its own taken. */
const ports = { from: 20_000, below: 32_768 };

const settingsForTests: PostgresSettings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  // A killed process loses nothing that it passed to the system; only a power cut would.
  fsync: "off",
  full_page_writes: "off",
  // Beside the data, so that a killed server leaves nothing in /dev/shm.
  dynamic_shared_memory_type: "mmap",
  max_connections: "200",
};

/** Creates a cluster in a temporary folder and starts a server on a free port of 127.0.0.1. */
export async function startPostgres(
  binaries: PostgresBinaries,
  settings: PostgresSettings = {},
): Promise<PostgresServer> {
  return startCluster(binaries, settings, (data) => makeCluster(binaries, data));
}

/** Starts a server on the cluster that `make` puts into a folder. */
async function startCluster(
  binaries: PostgresBinaries,
  settings: PostgresSettings,
  make: (data: string) => Promise<string>,
): Promise<PostgresServer> {
  const owner = postgresUser();
  const folder = makeTemporaryFolder(tmpdir(), "pg-", { owner });
  const data = join(folder.path, "data");
  let port = 0;
  let running: ServerProcess | undefined;
  let killed = false;
  let access = "";
  let followed: PostgresSettings = {};

  const start = async (): Promise<void> => {
    const all = { ...settingsForTests, ...settings, ...followed };
    running = await startServer(binaries, folder.path, data, port, all);
    killed = false;
  };
  const end = async (signal: "SIGINT" | "SIGKILL"): Promise<void> => {
    if (!running) return;
    const ended = running;
    running = undefined;
    await endServer(ended, signal);
    killed = signal === "SIGKILL";
  };
  /** As a copy of a server that was shut down is: no tool of a version is needed for it. */
  const copyTo = async (target: string): Promise<string> => {
    await end("SIGINT");
    await copyCluster(data, target);
    await start();
    return access;
  };

  try {
    access = await make(data);
    // A port that was free a moment ago may be taken by now.
    for (let attempt = 1; !running; attempt++) {
      port = await freePort();
      await start().catch((error: unknown) => {
        if (attempt === 5 || !String(error).includes("could not bind")) throw error;
      });
    }
  } catch (error) {
    folder.remove();
    throw error;
  }
  const url = `postgresql://${access}@127.0.0.1:${port}/postgres`;
  return {
    url,
    name: binaries.name,
    major: binaries.major,
    kill: () => end("SIGKILL"),
    async restart() {
      await end("SIGINT");
      await start();
    },
    async stop() {
      // A killed server releases its shared memory at its next start and stop; without one it would stay forever.
      if (killed) await start().catch(() => undefined);
      await end("SIGINT");
      folder.remove();
    },
    async startStandby() {
      const [user, password] = access.split(":");
      const following = {
        ...settings,
        primary_conninfo: `host=127.0.0.1 port=${port} user=${user} password=${password} application_name=standby`,
      };
      const standby = await startCluster(binaries, following, async (target) => {
        const copied = await copyTo(target);
        await markStandby(target);
        return copied;
      });
      // Before it runs, no commit would be acknowledged.
      followed = { synchronous_standby_names: "standby", synchronous_commit: "on" };
      await end("SIGINT");
      await start();
      return { ...standby, promote: () => promote(standby.url) };
    },
  };
}

async function promote(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("SELECT pg_promote(true, 60)");
  } finally {
    await client.end();
  }
}

/** Resolves when the server accepts connections; rejects with its own output when it ends before that. */
async function startServer(
  binaries: PostgresBinaries,
  folder: string,
  data: string,
  port: number,
  settings: PostgresSettings,
): Promise<ServerProcess> {
  const options = Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
  const child = spawn(join(binaries.bin, "postgres"), ["-D", data, "-p", String(port), ...options], {
    ...postgresUser(),
    cwd: folder,
    env: serverEnvironment,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let words = "";
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => reject(new Error(`${binaries.name} did not start:\n${words}`)));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      // Enough for the reason of a failed start; a running server's log is not kept.
      if (words.length < 20_000) words += text;
      if (/ready to accept (read-only )?connections/.test(words)) resolve();
    });
  });
  return child;
}

/**
 * Ends a server. Waits for "close", not "exit": it comes when the last backend that shares the log pipe has gone as
 * well.
 */
async function endServer(child: ServerProcess, signal: "SIGINT" | "SIGKILL"): Promise<void> {
  if (child.stderr.closed) return;
  const closed = once(child, "close");
  child.kill(signal);
  await closed;
}

async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(ports.from, ports.below);
    const probe = createServer();
    const free = await new Promise<boolean>((resolve) => {
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!free) continue;
    probe.close();
    await once(probe, "close");
    return port;
  }
}
