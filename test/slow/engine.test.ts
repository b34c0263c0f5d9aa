import { join } from "node:path";
import type { DoctorResponse } from "@parley/wire";
import { afterAll, describe, expect, it } from "vitest";
import { Workplace } from "../cli/parley-process.js";

interface Listed {
  readonly title: string;
}

const model = { demo: { kind: "demo", pace: "instant", slowStepMs: 0 } };

describe("the private PostgreSQL of a store", { timeout: 120_000 }, () => {
  const place = new Workplace();
  afterAll(() => place.remove());

  it("serves several calls at once, with and without a server", async () => {
    await Promise.all(["one", "two", "three"].map((prompt) => place.ok(["run", prompt])));
    const titles = async () => (await place.json<Listed[]>("ls")).map(({ title }) => title).sort();
    expect(await titles()).toEqual(["one", "three", "two"]);
    const server = await place.serve();
    expect(server.output().stdout).toContain('"engine":"private PostgreSQL"');
    // Beside the server, not through it: as if it were just starting.
    const { code, stderr } = await place.parley(["migrate", "--to", "postgres"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("A server runs on")]);
    await place.ok(["run", "four"]);
    await server.end();
    expect(await titles()).toEqual(["four", "one", "three", "two"]);
    expect(place.has(".parley/postgres/data/postmaster.pid")).toBe(false);
  });

  it("is there for others while a call runs", async () => {
    const holder = place.start(["chat"]);
    await until(() => place.has(".parley/postgres/data/postmaster.pid"));
    await place.ok(["ls"]);
    expect(holder.exitCode).toBeNull();
    holder.stdin?.end();
    await new Promise((resolve) => holder.once("close", resolve));
  });

  it("is what doctor names, and what nothing has to be moved to", async () => {
    const { healthy, findings } = await place.json<DoctorResponse>("doctor", "--no-providers");
    expect(healthy).toBe(true);
    expect(findings).toContainEqual({
      area: "engine",
      level: "ok",
      message: "The store runs on private PostgreSQL",
    });
    expect(await place.json("migrate", "--to", "postgres")).toMatchObject({ moved: false });
  });
});

describe("PGlite, where the configuration asks for it", { timeout: 120_000 }, () => {
  const place = new Workplace(
    { store: { folder: ".parley", durable: false, engine: "pglite" }, models: model },
    { withStore: false },
  );
  afterAll(() => place.remove());

  it("makes the folder, is named with the reason, and moves to PostgreSQL with progress", async () => {
    await place.ok(["run", "kept"]);
    expect(place.has(".parley/database")).toBe(true);
    const server = await place.serve();
    expect(server.output().stdout).toContain('"engine":"PGlite: the folder was made by it"');
    await server.end();
    // It allows one process at a time.
    const holder = place.start(["chat"]);
    // Not that of the server, which a busy machine may leave there for a moment.
    const lock = ".parley/parley.lock";
    await until(() => place.has(lock) && place.read(lock).includes(`"pid":${holder.pid},`));
    const busy = await place.parley(["ls"]);
    expect([busy.code, busy.stdout]).toEqual([1, ""]);
    expect(busy.stderr).toMatch(new RegExp(`is in use by process ${holder.pid}[\\s\\S]*--store`));
    holder.stdin?.end();
    await new Promise((resolve) => holder.once("close", resolve));
    const refused = await place.parley(["ls", "--config", otherConfig(place)]);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("parley migrate --to postgres"),
    ]);

    const moved = await place.parley(["migrate", "--to", "postgres"]);
    expect(moved.code).toBe(0);
    expect(moved.stderr).toMatch(/Copying conversation_message: \d+ of \d+ rows\./);
    expect(moved.stderr).toMatch(/on a private PostgreSQL now: \d+ rows in \d+ tables, all compared\./);
    expect(place.has(".parley/database.pglite")).toBe(true);
    const listed = JSON.parse(await place.ok(["ls", "--json", "--config", otherConfig(place)])) as Listed[];
    expect(listed.map(({ title }) => title)).toEqual(["kept"]);
    const still = await place.parley(["ls"]);
    expect(still.stderr).toContain("made by a private PostgreSQL");
  });
});

/** Writes a configuration of the same store that selects PostgreSQL. */
function otherConfig(place: Workplace): string {
  const path = join(place.folder, "other.config.json");
  place.write("other.config.json", {
    store: { folder: ".parley", durable: false, engine: "postgres" },
    models: model,
  });
  return path;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}
