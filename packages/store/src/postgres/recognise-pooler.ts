import pg from "pg";
import { type BoundedClient, boundClient } from "./bounded-client.js";
import { isRefusedStartup, poolerFailure } from "./failure.js";
import type { PostgresDatabase, PostgresDatabaseOptions } from "./postgres-database.js";
import { timeoutsOf } from "./timeouts.js";

/** Queries in a row that find out which session a connection reached. */
const looks = 3;

/**
 * Refuses to work through a pooler that was not announced with `transactionPooler`, instead of failing later in
 * unexpected ways: statements that were prepared in another session, settings that are not in force, wake-ups that
 * never come. A pooler that keeps one session per connection is accepted, unless it refuses the settings.
 */
export async function refuseUnannouncedPooler(
  database: PostgresDatabase,
  options: PostgresDatabaseOptions,
): Promise<void> {
  if (options.transactionPooler === true) return;
  try {
    if (await database.isDirect()) return;
  } catch (error) {
    if (!isRefusedStartup(error)) throw error;
    const found = await recognisePooler(options);
    if (found === "none") throw error;
    throw poolerFailure(found, { cause: error });
  }
  if ((await recognisePooler(options)) === "transaction") throw poolerFailure("transaction");
}

/**
 * Recognises a pooler by its behaviour, on plain connections without any setting. A server names its own process at
 * startup, a pooler something else; and one that works per transaction lets two connections reach the same session, or
 * one connection different sessions.
 */
async function recognisePooler(
  options: PostgresDatabaseOptions,
): Promise<"none" | "session" | "transaction"> {
  const timeouts = timeoutsOf(options);
  const Client = boundClient(pg.Client, timeouts.closeTimeoutMs);
  const opened: BoundedClient[] = [];
  const open = async (): Promise<BoundedClient> => {
    const client = new Client({
      application_name: "parley",
      ...options.driver,
      connectionString: options.url,
      connectionTimeoutMillis: timeouts.connectTimeoutMs,
    });
    // Errors of the connection fail the running statement.
    client.on("error", () => undefined);
    opened.push(client);
    await client.connect();
    client.limitSilence(timeouts.briefTimeoutMs);
    return client;
  };
  try {
    const first = await open();
    const session = await sessionOf(first);
    if (session === first.processID) return "none";
    try {
      // A pooler that takes its sessions in turn moves the connection now; one that takes the last one, later.
      if (await wanders(first, session)) return "transaction";
      const second = await open();
      await second.query("BEGIN");
      if ((await sessionOf(second)) === session || (await wanders(first, session))) return "transaction";
    } catch {
      // A pooler with one session per connection that has no second one available.
    }
    return "session";
  } finally {
    await Promise.all(opened.map((client) => client.end().catch(() => undefined)));
  }
}

async function wanders(client: pg.Client, session: number | undefined): Promise<boolean> {
  for (let look = 0; look < looks; look += 1) if ((await sessionOf(client)) !== session) return true;
  return false;
}

async function sessionOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ id: number }>("SELECT pg_backend_pid() AS id");
  return rows[0]?.id;
}
