import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { PostgresBinaries } from "./postgres-binaries.js";
import { type PostgresServer, startPostgres } from "./postgres-server.js";

/** Hands out the servers that all suites of a run share, and starts each one when it is first requested. */
export interface PostgresServers {
  readonly servers: { name: string; major: number; number: number }[];
  /** `GET <url>/<number>` answers with the server's own URL. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Starts the HTTP server that hands them out. Suites run in processes of their own, and the first one must not own a
 * server that others use: so the servers belong to the main process, and suites request them over HTTP on 127.0.0.1,
 * under a secret path.
 */
export async function startPostgresServers(
  binaries: readonly PostgresBinaries[],
  named: string | undefined,
): Promise<PostgresServers> {
  const sources = [
    ...(named
      ? [{ ...(await askNamedServer(named)), open: async () => ({ url: named, stop: async () => {} }) }]
      : []),
    ...binaries.map((one) => ({ name: one.name, major: one.major, open: () => startPostgres(one) })),
  ];
  const opened = new Map<number, Promise<Pick<PostgresServer, "url" | "stop">>>();
  const secret = randomBytes(16).toString("hex");
  const http = createServer(async (request, response) => {
    const [, given, number] = (request.url ?? "").split("/");
    const index = Number(number);
    const source = sources[index];
    if (given !== secret || !source) {
      response.writeHead(404).end();
      return;
    }
    const server = opened.get(index) ?? source.open();
    opened.set(index, server);
    await server.then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  http.unref();
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  return {
    servers: sources.map(({ name, major }, number) => ({ name, major, number })),
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/${secret}`,
    async close() {
      http.close();
      http.closeAllConnections();
      const servers = await Promise.allSettled(opened.values());
      await Promise.all(servers.map((one) => (one.status === "fulfilled" ? one.value.stop() : undefined)));
    },
  };
}

/** Checks a server that was named by hand: one that does not answer is an error, never a reason to skip. */
async function askNamedServer(url: string): Promise<{ name: string; major: number }> {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>("show server_version");
    const version = rows[0]?.server_version.split(" ")[0] ?? "";
    return { name: `PostgreSQL ${version} (named)`, major: Number.parseInt(version, 10) };
  } catch (error) {
    throw new Error("PARLEY_TEST_POSTGRES_URL names a server that does not answer", { cause: error });
  } finally {
    await client.end();
  }
}
