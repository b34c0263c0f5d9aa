import { existsSync } from "node:fs";
import { join } from "node:path";

/** Paths of a private PostgreSQL in a store's folder. */
export interface ServerLayout {
  /** The one folder that holds the rest. It appears when it is complete. */
  readonly home: string;
  /** PostgreSQL's own files, and its socket. */
  readonly data: string;
  /** A file for each process that uses the server. */
  readonly users: string;
  readonly log: string;
}

/** Returns the layout below a store's folder. */
export function layoutOf(folder: string): ServerLayout {
  return layoutAt(join(folder, "postgres"));
}

/** Returns the layout in a folder of another name, such as one that is still being created. */
export function layoutAt(home: string): ServerLayout {
  return { home, data: join(home, "data"), users: join(home, "users"), log: join(home, "server.log") };
}

/**
 * Path by which a server with its data folder as working folder refers to that folder. On Linux it is short, so that a
 * socket's name fits however long the folder's path is, and it needs no right to enter the folders above, which the
 * unprivileged user of a server that root starts does not have. Other systems have no such path.
 */
export const ownFolder = existsSync("/proc/self/cwd") ? "/proc/self/cwd" : "none";

/** Returns the data folder as an argument for a program that is started in it. */
export function dataArgument(data: string): string {
  return ownFolder === "none" ? data : ownFolder;
}
