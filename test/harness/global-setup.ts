import { statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestProject } from "vitest/node";
import { type ChromiumSource, findChromium } from "./chromium-source.js";
import { findPgbouncer, type PgbouncerProgram } from "./pgbouncer-program.js";
import { findPostgresBinaries, type PostgresBinaries } from "./postgres-binaries.js";
import { type PostgresServers, startPostgresServers } from "./postgres-servers.js";
import { postgresUser } from "./postgres-user.js";
import { sayLoudly } from "./say-loudly.js";
import { makeTemporaryFolder, type TemporaryFolder } from "./temporary-folder.js";

declare module "vitest" {
  interface ProvidedContext {
    /** Installations that a suite may start servers from, the preferred one first. */
    postgresBinaries: PostgresBinaries[];
    /** The servers of this run, the preferred one first. They start when a suite first requests one. */
    postgresServers: { name: string; major: number; number: number }[];
    /** Base URL of the HTTP server that answers with the URL of a server, by number. */
    postgresServersUrl: string;
    chromium: ChromiumSource | undefined;
    pgbouncer: PgbouncerProgram | undefined;
  }
}

let folder: TemporaryFolder | undefined;
let postgres: PostgresServers | undefined;

/**
 * Runs once per run, before all suites: finds out what this machine offers. Nothing is started before a suite requests
 * it. Everything that the run leaves in the temporary folder is removed at the end.
 */
export async function setup(project: TestProject): Promise<void> {
  folder = makeTemporaryFolder(reachableTemporaryFolder(), "parley-test-", { open: true });
  process.env.TMPDIR = folder.path; // inherited by the workers

  const { found, refused } = findPostgresBinaries(folder.path);
  postgres = await startPostgresServers(found, process.env.PARLEY_TEST_POSTGRES_URL);
  const chromium = findChromium();
  project.provide("postgresBinaries", found);
  project.provide("postgresServers", postgres.servers);
  project.provide("postgresServersUrl", postgres.url);
  project.provide("chromium", chromium.source);
  const pgbouncer = findPgbouncer(join(project.config.root, ".cache", "pgbouncer"), folder.path);
  project.provide("pgbouncer", pgbouncer.program);

  if (postgres.servers.length === 0) {
    sayLoudly("no PostgreSQL can be had here; suites that need one are SKIPPED", [
      ...refused,
      "install PostgreSQL 15 or newer, or set PARLEY_TEST_POSTGRES_URL",
    ]);
  }
  if (!chromium.source) {
    sayLoudly("no Chromium can be had here; suites that need one are SKIPPED", chromium.reasons);
  }
  if (!pgbouncer.program) {
    sayLoudly("no pgbouncer can be had here; suites that need one are SKIPPED", pgbouncer.reasons);
  }
}

export async function teardown(): Promise<void> {
  await postgres?.close();
  folder?.remove();
}

/** Returns a folder that the server's user can reach: a temporary folder below a closed home would not do. */
function reachableTemporaryFolder(): string {
  const candidates = [tmpdir(), "/tmp", "/var/tmp"];
  return candidates.find((path) => !postgresUser() || isOpenToAll(path)) ?? tmpdir();
}

function isOpenToAll(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat || (stat.mode & 0o001) === 0) return false;
  return dirname(path) === path || isOpenToAll(dirname(path));
}
