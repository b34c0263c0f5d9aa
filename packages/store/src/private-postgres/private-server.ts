import { isParleyError, ParleyError } from "@parley/core/errors";
import { awaitFolder } from "../folder/folder-lock.js";
import { isRunning, processStart } from "../folder/running-process.js";
import type { PostgresBinaries } from "./binaries.js";
import {
  claimCluster,
  clusterMajor,
  createCluster,
  hasCluster,
  notCreated,
  removeCluster,
} from "./create-cluster.js";
import { layoutOf, type ServerLayout } from "./layout.js";
import { findPostmaster } from "./postmaster.js";
import { shortenLog } from "./server-log.js";
import { ServerUsers } from "./server-users.js";
import { databaseName, superuser } from "./settings.js";
import { openSocketPath, type SocketPath } from "./socket-folder.js";
import { ensureServer } from "./start-server.js";
import { stopServer } from "./stop-server.js";

/** Options of a private server: its folder and its programs. */
export interface PrivateServerOptions {
  /** The store's folder. */
  readonly folder: string;
  readonly binaries: PostgresBinaries;
  /** True if a commit waits for the disk. */
  readonly durable: boolean;
  /** Runs under the folder's lock as soon as the server accepts connections. */
  readonly prepare?: (opened: { readonly url: string; readonly isFirst: boolean }) => Promise<void>;
}

/** Time that other processes may hold the folder's lock, to start or stop a server, or to create its files. */
const lockMs = 120_000;

/** Attempts to find a server that was ready, but does not accept the first connection. */
const attempts = 5;

/** Interval between checks of a server and its log. */
const watchMs = 500;
const logMs = 60_000;

/** Pauses before a server that ended is started again: the first, and the longest of those that double. */
const pauseMs = { first: 50, longest: 2_000 };

/**
 * A PostgreSQL server that belongs to a store's folder, from the view of one of the processes that use it.
 *
 * The first process starts it, later ones use the running one, including one that a killed process left behind, and the
 * last one stops it. Starting and stopping happen under the folder's lock, and each process that uses the server has a
 * file, so that of two that start or end at once one waits for the other. A server that ends by itself is started again
 * by the first process that notices it.
 */
export class PrivateServer {
  /** Address of the database. It stays the same when the server is started again. */
  readonly url: string;
  readonly #options: PrivateServerOptions;
  readonly #layout: ServerLayout;
  readonly #users: ServerUsers;
  readonly #socket: SocketPath;
  readonly #watch: NodeJS.Timeout;
  readonly #logWatch: NodeJS.Timeout;
  #process: { readonly pid: number; readonly processStart: string | undefined };
  #reviving: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #endPause: () => void = () => {};

  private constructor(
    options: PrivateServerOptions,
    {
      layout,
      users,
      socket,
      pid,
    }: { layout: ServerLayout; users: ServerUsers; socket: SocketPath; pid: number },
  ) {
    this.#options = options;
    this.#layout = layout;
    this.#users = users;
    this.#socket = socket;
    this.#process = { pid, processStart: processStart(pid) };
    this.url = serverUrl(socket);
    this.#watch = setInterval(() => this.#look(), watchMs);
    this.#watch.unref();
    this.#logWatch = setInterval(() => shortenLog(layout.log), logMs);
    this.#logWatch.unref();
  }

  /** Creates the files if there are none, and starts the server, or uses the one that runs. */
  static async open(options: PrivateServerOptions): Promise<PrivateServer> {
    const { folder, binaries, durable, prepare } = options;
    const layout = layoutOf(folder);
    const lock = await awaitFolder(folder, lockMs);
    try {
      const isNew = !hasCluster(layout);
      if (isNew) await createCluster(layout, binaries, { durable });
      requireMajor(layout, binaries, folder);
      claimCluster(layout);
      const users = ServerUsers.join(layout.users);
      let server: PrivateServer | undefined;
      try {
        const isFirst = users.others().length === 0;
        const pid = await ensureServer({ layout, binaries, durable });
        const socket = openSocketPath(layout.data);
        server = new PrivateServer(options, { layout, users, socket, pid });
        for (let attempt = 1; ; attempt += 1) {
          try {
            await prepare?.({ url: server.url, isFirst });
            return server;
          } catch (error) {
            if (isParleyError(error) || attempt === attempts) throw error;
            // A server without users was just being stopped by its guard.
            server.#use(await ensureServer({ layout, binaries, durable }));
          }
        }
      } catch (error) {
        if (server !== undefined) await server.#end();
        users.leave();
        if (!isNew || server !== undefined) throw error;
        // It has never run: the disk may not take sockets, for instance.
        await removeCluster(layout);
        throw notCreated(error);
      }
    } finally {
      lock.release();
    }
  }

  /** Stops the server, if no other process uses it. The connections to it are closed before. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#endPause();
    await this.#reviving;
    const lock = await awaitFolder(this.#options.folder, lockMs);
    try {
      await this.#end();
    } finally {
      lock.release();
    }
  }

  /** Ends the use of the server. Runs under the folder's lock. */
  async #end(): Promise<void> {
    clearInterval(this.#watch);
    clearInterval(this.#logWatch);
    this.#users.leave();
    try {
      const { data } = this.#layout;
      // It may be another one than at the beginning: another process may have started it again.
      const found = findPostmaster(data);
      if (found !== undefined && this.#users.others().length === 0) await stopServer(found.pid, data);
    } finally {
      this.#socket.close();
    }
  }

  #use(pid: number): void {
    this.#process = { pid, processStart: processStart(pid) };
  }

  #look(): void {
    if (this.#reviving !== undefined || this.#closing !== undefined || isRunning(this.#process)) return;
    this.#reviving = this.#revive().finally(() => {
      this.#reviving = undefined;
    });
  }

  /** Starts the server again, or finds the one that another process has started. */
  async #revive(): Promise<void> {
    const { folder, binaries, durable } = this.#options;
    for (
      let pause = pauseMs.first;
      this.#closing === undefined;
      pause = Math.min(pauseMs.longest, pause * 2)
    ) {
      try {
        const lock = await awaitFolder(folder, lockMs);
        try {
          this.#use(await ensureServer({ layout: this.#layout, binaries, durable }));
          return;
        } finally {
          lock.release();
        }
      } catch {
        // Most likely a full disk, which the log shows. Calls fail until there is space again.
      }
      await this.#pause(pause);
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Returns the address of the database behind a socket. */
export function serverUrl({ path }: SocketPath): string {
  return `postgresql:///${databaseName}?host=${encodeURIComponent(path)}&user=${superuser}`;
}

function requireMajor(layout: ServerLayout, binaries: PostgresBinaries, folder: string): void {
  const major = clusterMajor(layout);
  if (major === binaries.major) return;
  const advice =
    major < binaries.major
      ? "Run `parley migrate --to postgres`, which moves it to the new version and needs the programs of the old one"
      : "Use the version of Parley that wrote it, or a newer one";
  throw new ParleyError(
    "store_unavailable",
    `The store in ${folder} was written by PostgreSQL ${major}, and this version runs PostgreSQL ${binaries.major}. ${advice}.`,
    { retryable: false, details: { reason: "postgres_version", found: major, expected: binaries.major } },
  );
}
