import { tmpdir } from "node:os";
import type { LeasePace } from "@parley/core/runtime";
import type { EmbeddedEngine } from "@parley/store/embedded";
import type { OwnPostgres, SharedPostgres } from "../../test/harness/postgres.js";
import type { PostgresServer } from "../../test/harness/postgres-server.js";
import { makeTemporaryFolder } from "../../test/harness/temporary-folder.js";
import { shortLease } from "../../test/kill/cluster.js";
import { tablesOf } from "../../test/kill/tables.js";
import type { Environment } from "./run-cases.js";

/** No node waits for a lease here: the folder's lock proves that the previous holder is dead. */
const folderLease: LeasePace = { ...shortLease, ttlMs: 8_000, renewMs: 1_000 };

/** Longer than the database lets a transaction of a sleeping process stay open, as leases have to be. */
export const sleepersLease: LeasePace = { ...shortLease, ttlMs: 5_500, renewMs: 1_000 };

/** Creates an environment with one node on an embedded store: the default, a private PostgreSQL, or its fallback. */
export function onEmbedded(engine: EmbeddedEngine = "postgres"): Environment {
  const isPglite = engine === "pglite";
  return {
    name: isPglite ? "one node on PGlite" : "one node on its private PostgreSQL (the default)",
    prefix: isPglite ? "lite" : "own",
    async makeStore() {
      const folder = makeTemporaryFolder(tmpdir(), "crash-");
      const store = { folder: folder.path, engine };
      return { store, lease: folderLease, remove: async () => folder.remove() };
    },
  };
}

/** Creates an environment with a database of its own on a server that others use as well. */
export function onPostgres(
  postgres: SharedPostgres,
  options: { readonly name: string; readonly prefix: string; readonly lease?: LeasePace },
): Environment {
  const { name, prefix, lease = shortLease } = options;
  return {
    name,
    prefix,
    async makeStore() {
      const { url, drop } = await postgres.createDatabase();
      return { store: { url }, lease, readTables: tablesOf(url), remove: drop };
    },
  };
}

/** Creates an environment with a server of its own, which can be killed. */
export async function onOwnPostgres(
  postgres: OwnPostgres,
  options: { readonly name: string; readonly prefix: string },
): Promise<Environment & { readonly server: PostgresServer }> {
  const server = await postgres.start();
  let made = 0;
  return {
    ...options,
    server,
    async makeStore() {
      made += 1;
      const url = new URL(server.url);
      url.pathname = `/crash_${made}`;
      await tablesOf(server.url)([`CREATE DATABASE crash_${made}`]);
      const { href } = url;
      return { store: { url: href }, lease: shortLease, readTables: tablesOf(href), remove: async () => {} };
    },
  };
}
