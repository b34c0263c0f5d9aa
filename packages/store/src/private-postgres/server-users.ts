import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, statSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { folderIdentity } from "../folder/folder-identity.js";
import { isRunning, type ProcessName, thisProcess } from "../folder/running-process.js";
import { giveToServer } from "./create-cluster.js";

/** A process that uses a server, as its file names it. */
interface ServerUse extends ProcessName {
  /** Folder that it uses: in a copy of the folder its file is ignored. */
  readonly folder: string | undefined;
}

/** Interval at which a user renews its file, and age at which one on another machine counts as gone. */
const renewMs = 10_000;
const goneMs = 60_000;

/**
 * Lists the processes that use a private server: a file for each, with its process id at the beginning of the name,
 * which the server's guard reads. Changes happen under the lock of the store's folder.
 */
export class ServerUsers {
  readonly #folder: string;
  readonly #own: string;
  readonly #renewal: NodeJS.Timeout;
  readonly #onExit = () => this.leave();

  private constructor(folder: string) {
    this.#folder = folder;
    this.#own = join(folder, `${process.pid}.${randomUUID()}`);
    const use: ServerUse = { ...thisProcess(), folder: folderIdentity(folder) };
    writeFileSync(this.#own, JSON.stringify(use), { mode: 0o600 });
    giveToServer(this.#own);
    this.#renewal = setInterval(() => this.#renew(), renewMs);
    this.#renewal.unref();
    process.once("exit", this.#onExit);
  }

  /** Adds this process to the users in a folder. */
  static join(folder: string): ServerUsers {
    return new ServerUsers(folder);
  }

  /** Removes this process from the list. */
  leave(): void {
    clearInterval(this.#renewal);
    process.off("exit", this.#onExit);
    unlinkIfThere(this.#own);
  }

  /** Returns the other processes that run. */
  others(): ProcessName[] {
    return livingUsers(this.#folder, this.#own);
  }

  #renew(): void {
    try {
      const now = new Date();
      utimesSync(this.#own, now, now);
    } catch {
      // The folder is gone; the server will report it.
    }
  }
}

/** Reads the users of a server, and removes the files of those that are gone. */
export function livingUsers(folder: string, besides = ""): ProcessName[] {
  const identity = folderIdentity(folder);
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (path === besides) return [];
    const use = readUse(path, name);
    if (use !== undefined && lives(use, path, identity)) return [use];
    unlinkIfThere(path);
    return [];
  });
}

function lives(use: ServerUse, path: string, identity: string | undefined): boolean {
  // Another machine may number devices differently. A copy of its file is not renewed, so the file's age decides.
  if (use.host !== hostname()) return Date.now() - statSync(path).mtimeMs < goneMs;
  return (use.folder === undefined || use.folder === identity) && isRunning(use);
}

function readUse(path: string, name: string): ServerUse | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as ServerUse;
  } catch {
    // Killed while it wrote its name, or still writing it: the number in the file's name is enough.
    const pid = Number.parseInt(name, 10);
    return pid > 0 ? { pid, host: hostname(), processStart: undefined, folder: undefined } : undefined;
  }
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Another process did, or the folder is gone.
  }
}
