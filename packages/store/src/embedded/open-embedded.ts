import { ParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { LogStoreRoot, MemoryStore, Wake } from "@parley/core/ports";
import pg from "pg";
import { checkSchemaName, defaultSchema, schemaText } from "../in-schema.js";
import { openPglite, type PgliteOptions } from "../pglite/index.js";
import { openPostgres } from "../postgres/open-postgres.js";
import type { PostgresBinaries } from "../private-postgres/binaries.js";
import { isNotCreated } from "../private-postgres/create-cluster.js";
import { PrivateServer } from "../private-postgres/private-server.js";
import { chooseEngine, type EmbeddedEngine } from "./choose-engine.js";

/** Options of an embedded store: its folder and its durability. */
export interface EmbeddedOptions extends PgliteOptions {
  /** Engine of a new folder. Default: a private PostgreSQL if its programs run, else PGlite. */
  readonly engine?: EmbeddedEngine;
}

/** An embedded store and its parts. */
export interface OpenedEmbedded {
  readonly store: LogStoreRoot;
  readonly wake: Wake;
  /** Creates an owner's store of canonical messages, over the same log. Closed with the store. */
  readonly memoryStore: (owner: string) => MemoryStore;
  readonly engine: EmbeddedEngine;
  /** Reason for PGlite, if it is the engine. */
  readonly reason?: string;
}

/**
 * Opens the store in a folder and migrates its schema. Everything is in that folder, and nothing else has to be
 * installed or started.
 *
 * With a private PostgreSQL any number of processes of this machine can have the folder open; the server is started by
 * the first of them and stopped by the last. PGlite is the fallback if PostgreSQL's programs do not run: it allows one
 * process at a time. The turns that a crash left open can be claimed at once if no other process has the folder open.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<OpenedEmbedded> {
  const { folder, engine } = options;
  const choice = await chooseEngine(folder, engine);
  if (choice.engine === "pglite") return { ...(await openPglite(options)), ...choice };
  try {
    return await openPrivate(options, choice.binaries);
  } catch (error) {
    // PostgreSQL's programs run, but cannot create a database here: as a user without a name, for instance.
    if (!isNotCreated(error) || engine !== undefined) throw error;
    return { ...(await openPglite(options)), engine: "pglite", reason: error.message };
  }
}

/** Opens the store on the private server of its folder. */
export async function openPrivate(
  options: EmbeddedOptions,
  binaries: PostgresBinaries,
): Promise<OpenedEmbedded> {
  const { folder, durable = true, onMigration } = options;
  const schema = checkSchemaName(options.schema ?? defaultSchema);
  const server = await PrivateServer.open({
    folder,
    binaries,
    durable,
    prepare: (opened) => prepare(opened, { schema, durable, folder }),
  });
  const { store, wake, memoryStore } = openPostgres({
    url: server.url,
    schema,
    ...omitUndefined({ onMigration }),
  });
  let closing: Promise<void> | undefined;
  const close = async () => {
    try {
      await wake.close?.();
      await store.close();
    } finally {
      await server.close();
    }
  };
  const closeOnce = () => {
    closing ??= close();
    return closing;
  };
  try {
    await store.migrate();
  } catch (error) {
    // The reason of the refusal matters more than the server's own end.
    await closeOnce().catch(() => undefined);
    throw error;
  }
  return { store: { ...store, close: closeOnce }, wake, memoryStore, engine: "postgres" };
}

/** Prepares the database under the folder's lock, so that no other process opens it meanwhile. */
async function prepare(
  { url, isFirst }: { readonly url: string; readonly isFirst: boolean },
  {
    schema,
    durable,
    folder,
  }: { readonly schema: string; readonly durable: boolean; readonly folder: string },
): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ fsync: string; node: string | null }>(
      "SELECT current_setting('fsync') AS fsync, to_regclass($1)::text AS node",
      [`${schema}.node`],
    );
    if (durable && rows[0]?.fsync === "off") throw notDurable(folder);
    // No process has the store open, so no node runs: what they left open can be claimed at once.
    if (isFirst && rows[0]?.node !== null) await client.query(schemaText("DELETE FROM parley.node", schema));
  } finally {
    await client.end();
  }
}

function notDurable(folder: string): ParleyError {
  return new ParleyError(
    "store_unavailable",
    `Another process has opened the store in ${folder} with durable: false, so that commits do not wait for the disk. ` +
      "End it first, or open the store in the same way.",
    { retryable: false, details: { reason: "not_durable" } },
  );
}
