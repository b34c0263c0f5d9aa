// Databases of a private server, and their sizes.

/** Creates an empty database and returns its address. */
export async function createDatabase(server, name) {
  await withClient(server.urlOf("postgres"), (client) => client.query(`CREATE DATABASE ${name}`));
  return server.urlOf(name);
}

/**
 * Returns the bytes of all tables with their indexes and long values, after a VACUUM. `compact`: after a full
 * one, which leaves no free space, so that few turns make a measurable difference.
 */
export function databaseBytes(url, { compact = false } = {}) {
  return withClient(url, async (client) => {
    await client.query(compact ? "VACUUM FULL" : "VACUUM");
    const { rows } = await client.query(
      "SELECT sum(pg_total_relation_size(oid))::float8 AS bytes FROM pg_class WHERE relkind = 'r' AND relnamespace::regnamespace::text !~ '^(pg_|information_schema)'",
    );
    return rows[0].bytes;
  });
}

/** Returns the bytes of write-ahead log that the server has written so far. */
export function walBytes(url) {
  return withClient(url, async (client) => {
    const { rows } = await client.query("SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 AS bytes");
    return rows[0].bytes;
  });
}

/**
 * Does untimed work without waiting for the disk at each commit, and without full pages in the write-ahead
 * log: their number depends on the last checkpoint, not on the work.
 */
export async function withoutWaiting(server, work) {
  const set = (value) =>
    withClient(server.urlOf("postgres"), async (client) => {
      await client.query(`ALTER SYSTEM SET synchronous_commit = ${value}`);
      await client.query(`ALTER SYSTEM SET full_page_writes = ${value}`);
      await client.query("SELECT pg_reload_conf()");
    });
  await set("off");
  try {
    return await work();
  } finally {
    await set("on");
  }
}

export async function withClient(url, work) {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
