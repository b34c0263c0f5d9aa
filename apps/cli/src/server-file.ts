import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import type { Environment, StoreConfig } from "./config/config.js";
import { userStateFolder } from "./config/paths.js";

/** A server as it announces itself to other calls of `parley` on the same store. */
export interface ServerNote {
  readonly url: string;
  readonly pid: number;
  readonly host: string;
  readonly startedAt: string;
}

/** Where a store's server announces itself: in the store's folder, or for a PostgreSQL server in the user's state. */
export function serverFile(store: StoreConfig, env: Environment = process.env): string {
  if (store.kind === "folder") return join(store.folder, "server.json");
  const name = createHash("sha256").update(store.url).digest("hex").slice(0, 16);
  return join(userStateFolder(env), "servers", `${name}.json`);
}

/** Announces this process's server. Returns a function that takes the announcement back. */
export function announceServer(file: string, url: string): () => void {
  const note: ServerNote = { url, pid: process.pid, host: hostname(), startedAt: new Date().toISOString() };
  mkdirSync(dirname(file), { recursive: true });
  // Moved into place, so that a reader never finds half of it.
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
  let withdrawn = false;
  const withdraw = () => {
    if (withdrawn) return;
    withdrawn = true;
    process.off("exit", withdraw);
    // Only one's own: another server may have begun since.
    if (readServerFile(file)?.pid === process.pid) unlinkSync(file);
  };
  process.once("exit", withdraw);
  return withdraw;
}

/** The announcement, if there is one that can be read. Whether it still holds is for the caller to find out. */
export function readServerFile(file: string): ServerNote | undefined {
  try {
    const note = JSON.parse(readFileSync(file, "utf8")) as Partial<ServerNote>;
    if (typeof note.url !== "string" || typeof note.pid !== "number" || typeof note.host !== "string")
      return undefined;
    return { url: note.url, pid: note.pid, host: note.host, startedAt: String(note.startedAt) };
  } catch {
    return undefined;
  }
}
