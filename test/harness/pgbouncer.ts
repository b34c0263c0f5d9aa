import { type ChildProcess, spawn } from "node:child_process";
import { chownSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { PgbouncerProgram } from "./pgbouncer-program.js";
import { postgresUser } from "./postgres-user.js";
import { makeTemporaryFolder } from "./temporary-folder.js";

/** A running pgbouncer in front of the server of a database. */
export interface Pgbouncer {
  /** The same address, through pgbouncer. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts it on a free port of 127.0.0.1, with the given lines in its configuration. */
export async function startPgbouncer(
  program: PgbouncerProgram,
  url: string,
  settings: readonly string[],
): Promise<Pgbouncer> {
  const owner = postgresUser();
  const folder = makeTemporaryFolder(tmpdir(), "pgbouncer-", { owner });
  const target = new URL(url);
  const port = await freePort();
  const users = join(folder.path, "users.txt");
  const ini = join(folder.path, "pgbouncer.ini");
  writeFileSync(users, `"${target.username}" "${target.password}"\n`, { mode: 0o600 });
  writeFileSync(
    ini,
    [
      "[databases]",
      `* = host=${target.hostname} port=${target.port}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = plain",
      `auth_file = ${users}`,
      ...settings,
      "",
    ].join("\n"),
  );
  if (owner !== undefined) for (const file of [users, ini]) chownSync(file, owner.uid, owner.gid);
  const env = { PATH: process.env.PATH, LD_LIBRARY_PATH: program.libraries };
  const child = spawn(program.path, ["-q", ini], { ...owner, cwd: folder.path, env, stdio: "ignore" });
  await untilListening(child, port);
  const address = new URL(url);
  address.port = String(port);
  return {
    url: address.href,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = new Promise((resolve) => child.once("close", resolve));
        child.kill("SIGKILL");
        await ended;
      }
      folder.remove();
    },
  };
}

async function untilListening(child: ChildProcess, port: number): Promise<void> {
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
    await sleep(20);
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
