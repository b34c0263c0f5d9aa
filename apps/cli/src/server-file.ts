import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import type { Environment, StoreConfig } from "./config/config.js";
import { userStateFolder } from "./config/paths.js";

/** A server as it announces itself to other calls of `parley` on the same store. */
interface ServerNote {
  readonly url: string;
  /** The id that the server states in `/health`. Another server at the same address has another one. */
  readonly instance: string;
  /** The identity of an embedded store's folder. The announcement in a copy of that folder is not the copy's. */
  readonly folder?: string | undefined;
  readonly pid: number;
  readonly host: string;
  readonly startedAt: string;
}

/** Returns the file in which a store's server announces itself: in the store's folder, or in the user's state folder. */
function serverFile(store: StoreConfig, env: Environment): string {
  if (store.kind === "folder") return join(store.folder, "server.json");
  const name = createHash("sha256").update(store.url).digest("hex").slice(0, 16);
  return join(userStateFolder(env), "servers", `${name}.json`);
}

/** Announces this process's server. Returns a function that withdraws the announcement. */
export async function announceServer(
  store: StoreConfig,
  server: Pick<ServerNote, "url" | "instance">,
  env: Environment = process.env,
): Promise<() => void> {
  const file = serverFile(store, env);
  mkdirSync(dirname(file), { recursive: true });
  const note: ServerNote = {
    url: server.url,
    instance: server.instance,
    folder: await identityOf(store),
    pid: process.pid,
    host: hostname(),
    startedAt: new Date().toISOString(),
  };
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
    if (readServerFile(file)?.instance === note.instance) unlinkSync(file);
  };
  process.once("exit", withdraw);
  return withdraw;
}

/**
 * Finds the server that runs on a store, by its announcement. The announcement counts only if it was made for this
 * folder, not for one that this folder was copied or restored from, and if the server at its address is the one that
 * made it. Every path to the folder leads to the same announcement.
 */
export async function findServer(
  store: StoreConfig,
  env: Environment = process.env,
): Promise<string | undefined> {
  const note = readServerFile(serverFile(store, env));
  if (note === undefined || note.folder !== (await identityOf(store))) return undefined;
  return (await instanceAt(note.url)) === note.instance ? note.url : undefined;
}

function readServerFile(file: string): ServerNote | undefined {
  try {
    const note = JSON.parse(readFileSync(file, "utf8")) as Partial<ServerNote>;
    const { url, instance, folder, pid, host } = note;
    if (typeof url !== "string" || typeof instance !== "string") return undefined;
    if (typeof pid !== "number" || typeof host !== "string") return undefined;
    return { url, instance, folder, pid, host, startedAt: String(note.startedAt) };
  } catch {
    return undefined;
  }
}

async function identityOf(store: StoreConfig): Promise<string | undefined> {
  if (store.kind !== "folder") return undefined;
  const { folderIdentity } = await import("@parley/store/pglite");
  return folderIdentity(store.folder);
}

/** The id of the server at an address, if one answers. */
async function instanceAt(url: string): Promise<unknown> {
  try {
    const response = await fetch(new URL("/health", url), { signal: AbortSignal.timeout(2_000) });
    const body: unknown = await response.json();
    return typeof body === "object" && body !== null ? Reflect.get(body, "instance") : undefined;
  } catch {
    return undefined;
  }
}
