import { moveOwner } from "@parley/store/postgres";
import { afterAll, describe, expect, it } from "vitest";
import {
  citusUrl,
  createCitusShards,
  createTestShards,
  type TestShards,
} from "../../packages/store/src/shards/shards.test-support.js";
import { describeOnPostgres } from "../harness/postgres.js";
import type { Cluster } from "../kill/cluster.js";
import { anyWork, type NamedPoint, namedPoints } from "../kill/points.js";
import { Random } from "../kill/random.js";
import { SharedCluster } from "../kill/shared-cluster.js";
import { survive, surviveAnything, takeOver } from "../kill/survive.js";
import { tablesOfShards } from "../kill/tables.js";

const seed = Number(process.env.PARLEY_SEED ?? 20_261_118);
const caseMs = 120_000;

describeOnPostgres(
  "nodes on four shards",
  (postgres) => kills(() => createTestShards(postgres)),
  "preferred",
);
describe.skipIf(citusUrl === undefined)("nodes on four shards of a Citus cluster", () =>
  kills(() => createCitusShards(citusUrl ?? "")),
);

/** A part of the kill suite: what differs from one database are the map, the guards, and moves. */
function kills(create: () => Promise<TestShards>): void {
  const random = new Random(seed);
  const made: TestShards[] = [];
  const shared = new SharedCluster("shards", random, async () => {
    const shards = await create();
    made.push(shards);
    const store = { shards: shards.shards };
    return { store, readTables: tablesOfShards(shards.shards), remove: () => shards.drop() };
  });
  afterAll(() => shared.end());

  /** Moves the owner of the nodes to the next shard, like an operator beside them. */
  async function moveClient(): Promise<{ from: string; to: string }> {
    const shards = made.at(-1);
    if (shards === undefined) throw new Error("there are no shards yet");
    const { store, wake, set } = shards.open();
    try {
      await store.migrate();
      const names = set.shards.map(({ name }) => name);
      const { name } = await set.map.find("client");
      const to = names[(names.indexOf(name) + 1) % names.length] ?? name;
      return await moveOwner(set, { owner: "client", to });
    } finally {
      await wake.close?.();
      await store.close();
    }
  }

  const points = new Map(
    namedPoints("postgres", random, { thorough: true }).map((point) => [point.name, point]),
  );
  const alone = [
    "after the receipt",
    "in the commit of results, with a message that steers",
    "in the seal, with a message that waits",
    "in a fork",
  ];
  for (const name of alone) {
    it(
      `lose and double nothing when the only one dies ${name}`,
      () => survive(shared, points.get(name) as NamedPoint),
      caseMs,
    );
  }

  it(
    `lose and double nothing when it dies at any moment (3 times, seed ${seed})`,
    () => surviveAnything(shared, random, 3),
    caseMs,
  );

  for (const name of ["in the middle of a text", "in a tool that must not run again"]) {
    it(
      `take over from one that dies ${name}`,
      () => takeOver(shared, points.get(name) as NamedPoint),
      caseMs,
    );
  }

  it(
    `lose and double nothing when one dies while the owner moves (4 times, seed ${seed})`,
    () =>
      shared.use(async (cluster: Cluster) => {
        for (let death = 1; death <= 4; death += 1) {
          const [other, victim] = await cluster.pair();
          const moving = moveClient();
          const [{ from, to }] = await Promise.all([
            moving,
            cluster.killAfter(victim, random.between(0, 700), random.pick(anyWork)),
          ]);
          expect(from).not.toBe(to);
          cluster.moveViewers(other);
          await cluster.recover(other, victim);
        }
        const [node] = await cluster.pair();
        await cluster.nextTurn(node);
      }),
    caseMs,
  );
}
