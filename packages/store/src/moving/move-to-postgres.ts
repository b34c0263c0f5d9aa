import { existsSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ParleyError } from "@parley/core/errors";
import pg from "pg";
import { type FolderLock, lockFolder } from "../folder/folder-lock.js";
import { checkSchemaName, defaultSchema } from "../in-schema.js";
import { databaseFolder } from "../pglite/create-folder.js";
import { EmbeddedDatabase } from "../pglite/embedded-database.js";
import { openPostgres } from "../postgres/open-postgres.js";
import {
  findBinaries,
  findOlderBinaries,
  type NoBinaries,
  type PostgresBinaries,
} from "../private-postgres/binaries.js";
import { claimCluster, clusterMajor, hasCluster } from "../private-postgres/create-cluster.js";
import { layoutOf } from "../private-postgres/layout.js";
import { PrivateServer, serverUrl } from "../private-postgres/private-server.js";
import { livingUsers } from "../private-postgres/server-users.js";
import { openSocketPath } from "../private-postgres/socket-folder.js";
import { ensureServer } from "../private-postgres/start-server.js";
import { stopServer } from "../private-postgres/stop-server.js";
import { copyTables, type MoveProgress, type TableSpace } from "./copy-tables.js";
import { finishMove, movedMark, movingFolder } from "./finish-move.js";

/** Options of a move: the store, and the programs. */
export interface MoveOptions {
  readonly folder: string;
  /** The schema of the database that holds the tables. Default `parley`. */
  readonly schema?: string;
  /** True (the default) if commits of the copy wait for the disk. */
  readonly durable?: boolean;
  /** Folder with the programs of the older PostgreSQL that wrote the store. Default: Debian's place for them. */
  readonly olderBin?: string;
  readonly onProgress?: (progress: MoveProgress) => void;
}

/** The outcome of a move. */
export type MoveResult =
  | {
      readonly moved: true;
      readonly tables: number;
      readonly rows: number;
      /** Path at which the previous files are kept. */
      readonly kept: string;
    }
  | { readonly moved: false };

/** A store that is read, and that no other process has open. */
interface Source extends TableSpace {
  /** Path of its files, and the path at which they are kept afterwards. */
  readonly place: string;
  readonly kept: string;
  /** Closes it, and frees the folder when `then` is done. */
  close(then?: () => Promise<void>): Promise<void>;
}

/**
 * Moves the store in a folder to the private PostgreSQL that new folders have: from PGlite, or from an older major
 * version of PostgreSQL. No other process may have the store open.
 *
 * The copy is made beside the original and compared with it, row by row. Only then it replaces the original; until then
 * the original is opened, and an interrupted attempt continues where it was. The original is kept.
 */
export async function moveToPostgres(options: MoveOptions): Promise<MoveResult> {
  const { folder, durable = true, onProgress } = options;
  const schema = checkSchemaName(options.schema ?? defaultSchema);
  finishMove(folder);
  const binaries = required(await findBinaries(), "The store cannot be moved");
  if (hasCluster(layoutOf(folder)) && clusterMajor(layoutOf(folder)) === binaries.major) {
    return { moved: false };
  }
  const source = await openSource(options, schema);
  let copied: { readonly tables: number; readonly rows: number };
  try {
    copied = await copyTo(movingFolder(folder), binaries, { source, schema, durable, onProgress });
  } catch (error) {
    await source.close().catch(() => undefined);
    throw error;
  }
  await source.close(async () => {
    await writeFile(movedMark(folder), "");
    if (existsSync(layoutOf(folder).home)) await rename(source.place, source.kept);
    finishMove(folder);
    if (existsSync(source.place) && source.place !== layoutOf(folder).home) {
      await rename(source.place, source.kept);
    }
  });
  return { moved: true, ...copied, kept: source.kept };
}

interface CopyOptions {
  readonly source: Source;
  readonly schema: string;
  readonly durable: boolean;
  readonly onProgress: MoveOptions["onProgress"];
}

async function copyTo(
  folder: string,
  binaries: PostgresBinaries,
  { source, schema, durable, onProgress }: CopyOptions,
): Promise<{ readonly tables: number; readonly rows: number }> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const server = await PrivateServer.open({ folder, binaries, durable });
  try {
    await migrated(server.url, schema);
    const target = await connected(server.url);
    try {
      return await copyTables(source, target, schema, onProgress);
    } finally {
      await target.close();
    }
  } finally {
    await server.close();
  }
}

async function openSource(options: MoveOptions, schema: string): Promise<Source> {
  const { folder } = options;
  const layout = layoutOf(folder);
  if (!hasCluster(layout) && !existsSync(databaseFolder(folder))) {
    throw new ParleyError("store_unavailable", `There is no store in ${folder} that could be moved.`, {
      retryable: false,
    });
  }
  const lock = await lockFolder(folder);
  try {
    return hasCluster(layout)
      ? await openOlderServer(options, schema, lock)
      : await openPgliteFiles(folder, schema, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openPgliteFiles(folder: string, schema: string, lock: FolderLock): Promise<Source> {
  const place = databaseFolder(folder);
  const database = await EmbeddedDatabase.open({ folder: place, schema, durable: true, vacuumMs: 3_600_000 });
  try {
    await database.call("migrate", []);
  } catch (error) {
    await database.close().catch(() => undefined);
    throw error;
  }
  return {
    place,
    kept: unusedName(`${place}.pglite`),
    query: async (statement) => (await database.call("query", [statement])) as never,
    close: (then) => database.close().then(then).finally(lock.release),
  };
}

async function openOlderServer(options: MoveOptions, schema: string, lock: FolderLock): Promise<Source> {
  const { folder, olderBin } = options;
  const layout = layoutOf(folder);
  const major = clusterMajor(layout);
  const [user] = existsSync(layout.users) ? livingUsers(layout.users) : [];
  if (user !== undefined) {
    throw new ParleyError(
      "store_unavailable",
      `The store in ${folder} is in use by process ${user.pid}. End it first.`,
      { retryable: false },
    );
  }
  const found = await (olderBin === undefined ? findOlderBinaries(major) : findBinaries({ bin: olderBin }));
  const binaries = required(
    found,
    `The store in ${folder} was written by PostgreSQL ${major}, which is needed to read it`,
  );
  claimCluster(layout);
  const pid = await ensureServer({ layout, binaries, durable: true });
  const socket = openSocketPath(layout.data);
  const url = serverUrl(socket);
  const stop = () => stopServer(pid, layout.data).finally(socket.close);
  try {
    await migrated(url, schema);
    const client = await connected(url);
    return {
      place: layout.home,
      kept: unusedName(join(folder, `postgres.${major}`)),
      query: client.query,
      close: (then) => client.close().finally(stop).then(then).finally(lock.release),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Migrates the schema of a database. */
async function migrated(url: string, schema: string): Promise<void> {
  const { store, wake } = openPostgres({ url, schema });
  try {
    await store.migrate();
  } finally {
    await wake.close?.();
    await store.close();
  }
}

/** Opens one connection without time limits: a table is compared in one statement, however large it is. */
async function connected(url: string): Promise<TableSpace & { close(): Promise<void> }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    query: async ({ text, values = [] }) => (await client.query(text, [...values])).rows,
    close: () => client.end(),
  };
}

function required(found: PostgresBinaries | NoBinaries, what: string): PostgresBinaries {
  if (!("reason" in found)) return found;
  throw new ParleyError("store_unavailable", `${what}: ${found.reason}.`, {
    retryable: false,
    details: { reason: "no_binaries" },
  });
}

/** Returns an unused name: an earlier store may have been moved in the same folder. */
function unusedName(path: string): string {
  let name = path;
  for (let number = 2; existsSync(name); number += 1) name = `${path}.${number}`;
  return name;
}
