import { randomBytes } from "node:crypto";
import pg from "pg";
import { describe, inject } from "vitest";
import type { PostgresBinaries } from "./postgres-binaries.js";
import { type PostgresServer, type PostgresSettings, startPostgres } from "./postgres-server.js";

/** A database of its own on a server that other suites use as well. */
export interface TestDatabase {
  readonly url: string;
  /** Ends open connections, then removes the database. */
  drop(): Promise<void>;
}

/** A server that all suites of the run share: suites create databases on it, and never stop it. */
export interface SharedPostgres {
  readonly name: string;
  readonly major: number;
  createDatabase(): Promise<TestDatabase>;
}

/** Servers of a suite's own, to be killed and restarted at will. */
export interface OwnPostgres {
  readonly name: string;
  readonly major: number;
  /** Starts a server, which the caller stops; a forgotten one ends with the test process. */
  start(settings?: PostgresSettings): Promise<PostgresServer>;
}

/**
 * Describes a suite once for each available PostgreSQL (all versions found), or with `"preferred"` once. If there is
 * none, the suite's tests are skipped and counted.
 */
export function describeOnPostgres(
  name: string,
  body: (postgres: SharedPostgres) => void,
  which: "all" | "preferred" = "all",
): void {
  const servers = inject("postgresServers").map((server) => ({
    name: server.name,
    major: server.major,
    createDatabase: () => createDatabase(server.number),
  }));
  describeEach(name, which === "all" ? servers : servers.slice(0, 1), body, {
    name: "no PostgreSQL",
    major: 0,
    createDatabase: noServer,
  });
}

/** Describes a suite that kills or restarts its server: each one starts servers of its own. */
export function describeOnOwnPostgres(
  name: string,
  body: (postgres: OwnPostgres) => void,
  which: "all" | "preferred" = "all",
): void {
  const installations = inject("postgresBinaries").map((binaries: PostgresBinaries) => ({
    name: binaries.name,
    major: binaries.major,
    start: (settings?: PostgresSettings) => startPostgres(binaries, settings),
  }));
  describeEach(name, which === "all" ? installations : installations.slice(0, 1), body, {
    name: "no PostgreSQL",
    major: 0,
    start: noServer,
  });
}

/** Returns the URL of another database on the same server. */
function onDatabase(url: string, database: string): string {
  const other = new URL(url);
  other.pathname = `/${database}`;
  return other.href;
}

function describeEach<T extends { readonly name: string }>(
  name: string,
  those: readonly T[],
  body: (one: T) => void,
  none: T,
): void {
  if (those.length === 0) describe.skip(name, () => body(none));
  for (const one of those) describe(`${name}, on ${one.name}`, () => body(one));
}

function noServer(): never {
  throw new Error("there is no PostgreSQL here, and this suite should have been skipped");
}

async function createDatabase(server: number): Promise<TestDatabase> {
  const answer = await fetch(`${inject("postgresServersUrl")}/${server}`);
  const serverUrl = await answer.text();
  if (!answer.ok) throw new Error(serverUrl);
  const database = `test_${randomBytes(6).toString("hex")}`;
  await execute(serverUrl, `CREATE DATABASE ${database}`);
  return {
    url: onDatabase(serverUrl, database),
    drop: () => execute(serverUrl, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`),
  };
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
