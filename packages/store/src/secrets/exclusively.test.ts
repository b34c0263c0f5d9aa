import type { LogStoreRoot, SecretStore } from "@parley/core/ports";
import { createMemoryLogStore, gate } from "@parley/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeOnPostgres, type TestDatabase } from "../../../../test/harness/postgres.js";
import { openLogStore } from "../open-log-store.js";
import { PostgresDatabase } from "../postgres/postgres-database.js";
import { openSecrets } from "./open-secrets.js";

const secret = "a text of the installation, long enough";
const name = { owner: "me", kind: "token", name: "server" };

/**
 * Runs calls of two nodes that all find an expired token. Returns the number of renewals and the values that the calls
 * got.
 */
async function renewByMany(
  stores: readonly SecretStore[],
): Promise<{ renewals: number; values: Set<string> }> {
  const nodes = stores.map((store) => openSecrets(store, { secret }));
  await nodes[0]?.put({ ...name, value: "expired", replaces: null });
  let [renewals, atOnce, most] = [0, 0, 0];
  const calls = Array.from({ length: 20 }, async (_, index) => {
    const node = nodes[index % nodes.length];
    if (node === undefined) throw new Error("there is no node");
    return node.exclusively(name, async () => {
      const token = await node.get(name);
      if (token?.value !== "expired") return token?.value ?? "";
      atOnce += 1;
      most = Math.max(most, atOnce);
      renewals += 1;
      const value = `renewed ${renewals}`;
      await node.put({ ...name, value, replaces: token.version });
      atOnce -= 1;
      return value;
    });
  });
  const values = new Set(await Promise.all(calls));
  expect(most).toBe(1);
  await nodes[0]?.remove(name);
  return { renewals, values };
}

function memoryNodes(): SecretStore[] {
  const { secrets } = createMemoryLogStore({ clock: Date });
  return [secrets, secrets];
}

describe("exclusive work for a secret", () => {
  it("is done once for many calls of two nodes", async () => {
    expect(await renewByMany(memoryNodes())).toEqual({ renewals: 1, values: new Set(["renewed 1"]) });
  });

  it("that fails is the next one's to do", async () => {
    const [store] = memoryNodes();
    if (store === undefined) throw new Error("there is no store");
    const secrets = openSecrets(store, { secret });
    const failed = secrets.exclusively(name, () => Promise.reject(new Error("the server is away")));
    const next = secrets.exclusively(name, () => Promise.resolve("done"));
    await expect(failed).rejects.toThrow("the server is away");
    expect(await next).toBe("done");
  });

  it("of a node that died is begun by another when the hold has run out, and its own signal ends before", async () => {
    const [one, two] = memoryNodes();
    if (one === undefined || two === undefined) throw new Error("there is no store");
    const stuck = gate();
    let aborted: AbortSignal | undefined;
    const dead = openSecrets(one, { secret }).exclusively(
      name,
      async (signal) => {
        aborted = signal;
        await stuck.wait();
      },
      { leaseMs: 30 },
    );
    await stuck.reached;
    expect(await openSecrets(two, { secret }).exclusively(name, async () => aborted?.aborted)).toBe(true);
    stuck.open();
    await dead;
  });

  it("lets a call give up waiting, and no call pass the one at work", async () => {
    const [store] = memoryNodes();
    if (store === undefined) throw new Error("there is no store");
    const secrets = openSecrets(store, { secret });
    const working = gate();
    const first = secrets.exclusively(name, () => working.wait());
    await working.reached;
    const impatient = new AbortController();
    const second = secrets.exclusively(name, () => Promise.resolve("never"), { signal: impatient.signal });
    impatient.abort(new Error("no longer wanted"));
    await expect(second).rejects.toThrow("no longer wanted");
    let began = false;
    const third = secrets.exclusively(name, async () => {
      began = true;
    });
    expect(await store.hold({ ...name, holder: "somebody", leaseMs: 1 })).toBeGreaterThan(0);
    expect(began).toBe(false);
    working.open();
    await Promise.all([first, third]);
    expect(await store.hold({ ...name, holder: "somebody", leaseMs: 1 })).toBe(0);
  });
});

describeOnPostgres("exclusive work for a secret on PostgreSQL", (postgres) => {
  let database: TestDatabase;
  let nodes: LogStoreRoot[];
  beforeAll(async () => {
    database = await postgres.createDatabase();
    const { url } = database;
    nodes = [
      openLogStore(new PostgresDatabase({ url })),
      openLogStore(new PostgresDatabase({ url, transactionPooler: true })),
    ];
    await nodes[0]?.migrate();
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await database.drop();
  });

  it("is done once for many calls of two nodes, one of them behind a pooler", async () => {
    const found = await renewByMany(nodes.map(({ secrets }) => secrets));
    expect(found).toEqual({ renewals: 1, values: new Set(["renewed 1"]) });
  });
});
