import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { packagedPostgres } from "../packages/store/src/private-postgres/binaries.js";
import { describeOnOwnPostgres, describeOnPostgres } from "./harness/postgres.js";
import { usablePackage } from "./harness/postgres-binaries.js";
import { type PostgresServer, startPostgres } from "./harness/postgres-server.js";
import { postgresUser } from "./harness/postgres-user.js";

/** Opens a connection that survives losing its server; `cut` resolves when it has. */
async function connect(url: string): Promise<{ client: pg.Client; cut: Promise<unknown> }> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  const cut = new Promise((resolve) => client.once("end", resolve));
  await client.connect();
  return { client, cut };
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const { client } = await connect(url);
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Stops the server at the end of the test, also when the test fails. */
async function started(starting: Promise<PostgresServer>): Promise<PostgresServer> {
  const server = await starting;
  onTestFinished(() => server.stop());
  return server;
}

function dataFolders(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith("pg-"));
}

describeOnPostgres("a database on the shared server", (postgres) => {
  it("is a real PostgreSQL of the version that was named", async () => {
    const database = await postgres.createDatabase();
    onTestFinished(() => database.drop());
    const [row] = await query(
      database.url,
      "select current_setting('server_version_num')::int / 10000 as major",
    );
    expect(row).toEqual({ major: postgres.major });
  });

  it("is separate from every other one", async () => {
    const [one, two] = await Promise.all([postgres.createDatabase(), postgres.createDatabase()]);
    onTestFinished(async () => {
      await Promise.all([one.drop(), two.drop()]);
    });
    await query(one.url, "create table only_here (id int)");
    expect(await query(two.url, "select to_regclass('only_here') as found")).toEqual([{ found: null }]);
  });

  it("is gone after drop, even while a client is connected", async () => {
    const database = await postgres.createDatabase();
    const { cut } = await connect(database.url);
    await database.drop();
    await cut;
    await expect(query(database.url, "select 1")).rejects.toMatchObject({ code: "3D000" });
  });
});

describeOnOwnPostgres("a server of a suite's own", (postgres) => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await postgres.start({ max_connections: "7" });
  });
  afterAll(() => server.stop());

  it("runs as an unprivileged user on a port that the system does not hand out", async () => {
    expect(Number(new URL(server.url).port)).toBeLessThan(32_768);
    const { client } = await connect(server.url);
    onTestFinished(() => client.end());
    const { rows } = await client.query(
      "select pg_backend_pid() as pid, inet_server_addr()::text as address",
    );
    expect(rows[0]).toMatchObject({ address: "127.0.0.1/32" });
    if (process.platform === "linux") {
      expect(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${rows[0]?.pid}/status`, "utf8"))?.[1]).not.toBe("0");
    }
  });

  it("keeps what was committed when it is killed in the middle of work, and comes back at the same address", async () => {
    await query(server.url, "create table note (id int); insert into note values (1)");
    const { client, cut } = await connect(server.url);
    await client.query("begin; insert into note values (2)");

    await server.kill();
    await cut;
    await expect(query(server.url, "select 1")).rejects.toMatchObject({ code: "ECONNREFUSED" });

    await server.restart();
    expect(await query(server.url, "select id from note")).toEqual([{ id: 1 }]);
  });

  it("restarts without a kill as well, with the settings that it was given", async () => {
    await query(server.url, "create table other_note as select 7 as id");
    await server.restart();
    expect(await query(server.url, "select id from other_note")).toEqual([{ id: 7 }]);
    expect(await query(server.url, "show max_connections")).toEqual([{ max_connections: "7" }]);
  });

  it("refuses a wrong password", async () => {
    const url = new URL(server.url);
    url.password = "wrong";
    await expect(query(url.href, "select 1")).rejects.toMatchObject({ code: "28P01" });
  });
});

describeOnOwnPostgres(
  "behind a server",
  (postgres) => {
    it("neither files nor an open port are left when it stops", async () => {
      const before = dataFolders();
      const server = await postgres.start();
      expect(dataFolders()).toHaveLength(before.length + 1);
      await server.stop();
      await server.stop();
      expect(dataFolders()).toEqual(before);
      await expect(query(server.url, "select 1")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    });

    it("nothing is left when it cannot start, and it says why", async () => {
      const before = dataFolders();
      await expect(postgres.start({ shared_buffers: "nonsense" })).rejects.toThrow(/shared_buffers/);
      expect(dataFolders()).toEqual(before);
    });

    it("the guard cleans up when the process that started it is gone", async () => {
      const before = dataFolders();
      const server = await started(postgres.start());
      const folder = join(tmpdir(), dataFolders().find((name) => !before.includes(name)) ?? "none");
      const guard = spawn(process.execPath, [fileURLToPath(new URL("./harness/guard.mjs", import.meta.url))]);
      guard.stdin.end(`+ ${folder}\n`); // to the guard, its owner's death is the end of this pipe
      await once(guard, "close");
      expect(existsSync(folder)).toBe(false);
      await expect(query(server.url, "select 1")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    });

    it("the guard leaves alone what was already cleaned up", async () => {
      const before = dataFolders();
      const server = await started(postgres.start());
      const folder = join(tmpdir(), dataFolders().find((name) => !before.includes(name)) ?? "none");
      const guard = spawn(process.execPath, [fileURLToPath(new URL("./harness/guard.mjs", import.meta.url))]);
      guard.stdin.end(`+ ${folder}\n- ${folder}\n`);
      await once(guard, "close");
      expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
    });
  },
  "preferred",
);

describe.skipIf(inject("postgresBinaries").length < 2)("two versions side by side", () => {
  it("run at the same time", async () => {
    const servers = await Promise.all(
      inject("postgresBinaries").map((binaries) => started(startPostgres(binaries))),
    );
    const majors = await Promise.all(
      servers.map(async ({ url }) => (await query(url, "show server_version"))[0]?.server_version),
    );
    expect(majors.map((version) => Number.parseInt(String(version), 10))).toEqual(
      servers.map(({ major }) => major),
    );
    expect(new Set(servers.map(({ url }) => url)).size).toBe(servers.length);
  });
});

const native = packagedPostgres();
describe.skipIf(!native)("the npm package's PostgreSQL", () => {
  it.skipIf(!postgresUser())("runs as root from below a folder that only root may enter", async () => {
    const home = mkdtempSync(join(tmpdir(), "closed-home-"));
    chmodSync(home, 0o700);
    onTestFinished(() => rmSync(home, { recursive: true }));
    const closed = join(home, "native");
    cpSync(native ?? "", closed, { recursive: true, verbatimSymlinks: true });
    const copy = join(tmpdir(), "copied-from-closed-home");

    const binaries = usablePackage(closed, copy);
    if (typeof binaries === "string") throw new Error(binaries);
    onTestFinished(() => rmSync(copy, { recursive: true }));
    expect(binaries.bin).toBe(join(copy, "bin"));
    const server = await started(startPostgres(binaries));
    expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
  });

  it("gets its library links when the install script did not run", async () => {
    const folder = mkdtempSync(join(tmpdir(), "without-links-"));
    chmodSync(folder, 0o755);
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const bare = join(folder, "native");
    cpSync(native ?? "", bare, { recursive: true, verbatimSymlinks: true });
    const links = readdirSync(join(bare, "lib"), { withFileTypes: true }).filter((entry) =>
      entry.isSymbolicLink(),
    );
    expect(links.length).toBeGreaterThan(0);
    for (const { name } of links) unlinkSync(join(bare, "lib", name));

    const binaries = usablePackage(bare, join(folder, "copy"));
    expect(binaries).toMatchObject({ bin: join(bare, "bin") });
    expect(readdirSync(join(bare, "lib"))).toEqual(expect.arrayContaining(links.map(({ name }) => name)));
  });
});
