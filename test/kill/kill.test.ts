import { tmpdir } from "node:os";
import type { EmbeddedEngine } from "@parley/store/embedded";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { describeOnOwnPostgres, describeOnPostgres, type SharedPostgres } from "../harness/postgres.js";
import type { PostgresServer } from "../harness/postgres-server.js";
import { makeTemporaryFolder } from "../harness/temporary-folder.js";
import { Cluster, shortLease, sleepMs, within } from "./cluster.js";
import { type FrozenPoint, outsleep } from "./frozen.js";
import { anyWork, type NamedPoint, namedPoints, say, steered } from "./points.js";
import { Random } from "./random.js";
import type { KillPlan } from "./running-node.js";
import { SharedCluster } from "./shared-cluster.js";
import { survive, surviveAnything, takeOver } from "./survive.js";
import { checkTables, tablesIn, tablesOf } from "./tables.js";

/**
 * Number of times that a node dies at no particular moment, in all suites together. With more, all named points are
 * tried.
 */
const usualKills = 5;
const kills = Number(process.env.PARLEY_KILLS ?? usualKills);
const thorough = kills > usualKills;
const seed = Number(process.env.PARLEY_SEED ?? 20_261_115);
const caseMs = 60_000;
const randomKills = Math.round((kills * 2) / 5);
const embeddedKills = Math.round(kills / 5);
const randomMs = caseMs + randomKills * 15_000;

function sharedClusterOn(postgres: SharedPostgres, name: string, random: Random): SharedCluster {
  return new SharedCluster(name, random, async () => {
    const { url, drop } = await postgres.createDatabase();
    return { store: { url }, readTables: tablesOf(url), remove: drop };
  });
}

// Mostly these tests wait, for processes to start and leases to run out: three lanes do it side by side.
describe.concurrent("embedded", () => {
  describe.sequential("in a folder", () => {
    embedded("pglite");
    embedded("postgres");
  });
});
describe.concurrent("with a server", () => {
  describe.sequential("for one node", () => {
    single();
    outage();
  });
});
describe.concurrent("with a server", () => {
  describe.sequential("for several", () => {
    pair();
    clocks();
  });
});

function embedded(engine: EmbeddedEngine): void {
  const isPglite = engine === "pglite";
  describe(isPglite ? "a node on PGlite" : "a node on a private PostgreSQL", () => {
    const random = new Random(seed);
    const shared = new SharedCluster(isPglite ? "lite" : "own", random, async () => {
      const folder = makeTemporaryFolder(tmpdir(), "kill-");
      // No node waits for a lease here: the folder's lock proves that the previous holder is dead.
      const lease = { ...shortLease, ttlMs: 8_000, renewMs: 1_000 };
      return {
        store: { folder: folder.path, engine },
        options: { lease },
        remove: async () => folder.remove(),
      };
    });
    afterAll(() => shared.end());

    // What happens at each point is the same on every PostgreSQL: there it is tried by `single`.
    for (const point of isPglite ? namedPoints("pglite", random, { thorough }) : []) {
      it(`that dies ${point.name} loses and doubles nothing`, () => survive(shared, point), caseMs);
    }

    it(
      `that dies at any moment loses and doubles nothing (${embeddedKills} times, seed ${seed})`,
      () => surviveAnything(shared, random, embeddedKills),
      randomMs,
    );

    it(
      "leaves no trace of its deaths in the tables",
      () =>
        shared.use(async (cluster) => {
          for (const node of cluster.living) await node.close();
          const { folder } = cluster.store as { folder: string };
          expect(await checkTables(tablesIn(folder))).toEqual([]);
        }),
      caseMs,
    );
  });
}

function single(): void {
  describeOnPostgres(
    "a node on PostgreSQL",
    (postgres) => {
      const random = new Random(seed + 1);
      const shared = sharedClusterOn(postgres, "pg", random);
      afterAll(() => shared.end());

      for (const point of namedPoints("postgres", random, { thorough })) {
        it(`that dies ${point.name} loses and doubles nothing`, () => survive(shared, point), caseMs);
      }

      it(
        `that dies at any moment loses and doubles nothing (${randomKills} times, seed ${seed})`,
        () => surviveAnything(shared, random, randomKills),
        randomMs,
      );
    },
    "preferred",
  );
}

function pair(): void {
  describeOnPostgres(
    "of two nodes on PostgreSQL",
    (postgres) => {
      const random = new Random(seed + 2);
      const shared = sharedClusterOn(postgres, "two", random);
      afterAll(() => shared.end());

      const points = new Map(
        namedPoints("postgres", random, { thorough: true }).map((point) => [point.name, point]),
      );
      const names = [
        "in the middle of a text",
        "after the commit of an answer",
        "in a tool that must not run again",
        "after the seal, before anyone knows",
      ];
      for (const name of names) {
        it(
          `the other takes over when one dies ${name}, and its subscribers see the turn end`,
          () => takeOver(shared, points.get(name) as NamedPoint),
          caseMs,
        );
      }

      it(
        `either may die at any moment (${randomKills} times, seed ${seed})`,
        () =>
          shared.use(async (cluster) => {
            for (let death = 1; death <= randomKills; death += 1) {
              const nodes = await cluster.pair();
              const victim = random.pick(nodes);
              const other = nodes[0] === victim ? nodes[1] : nodes[0];
              // Half of the time the client talks to the surviving node.
              const busy = random.chance(0.3) ? other : victim;
              await cluster.killAfter(victim, random.between(0, 700), random.pick(anyWork), busy);
              cluster.moveViewers(other);
              await cluster.recover(other, victim);
            }
            const [node] = await cluster.pair();
            await cluster.nextTurn(node);
          }),
        randomMs,
      );

      const frozen: FrozenPoint[] = [
        {
          name: "before the commit of an answer",
          point: { kind: "store", method: "commitStep", when: "before", phase: "answer" },
          work: say("fail"),
          lateWrite: "commitStep",
        },
        {
          name: "before it writes down a tool's result",
          point: { kind: "store", method: "flushJournal", when: "before", has: "once answers" },
          work: say("fail"),
          lateWrite: "flushJournal",
        },
        {
          name: "before the seal",
          point: { kind: "store", method: "seal", when: "before" },
          work: steered,
          lateWrite: "seal",
        },
        {
          name: "in the middle of a text",
          point: { kind: "event", type: "text-delta", nth: 20 },
          work: say("fail"),
        },
        {
          name: "after the seal, before anyone knows",
          point: { kind: "store", method: "seal", when: "after" },
          work: say("talk"),
        },
        {
          name: "after a seal that opened the next turn",
          point: { kind: "store", method: "seal", when: "after" },
          work: steered,
          isExtra: true,
        },
        {
          name: "after the commit of an answer",
          point: { kind: "store", method: "commitStep", when: "after", phase: "answer" },
          work: say("fail"),
          isExtra: true,
        },
        {
          name: "in a tool",
          point: { kind: "tool", name: "slow" },
          work: say("retry"),
          isExtra: true,
        },
        {
          name: "before an admission",
          point: { kind: "store", method: "admit", when: "before" },
          work: say("talk"),
        },
        {
          name: "after an admission",
          point: { kind: "store", method: "admit", when: "after" },
          work: say("retry"),
        },
      ];
      for (const point of frozen.filter(({ isExtra }) => thorough || !isExtra)) {
        it(
          `one that falls asleep ${point.name} and wakes after its lease writes, publishes and starts nothing more`,
          () => shared.use((cluster) => outsleep(cluster, point)),
          caseMs,
        );
      }
    },
    "preferred",
  );
}

function clocks(): void {
  describeOnPostgres(
    "two nodes whose clocks are apart by minutes",
    (postgres) => {
      const shared = sharedClusterOn(postgres, "clocks", new Random(seed + 3));
      afterAll(() => shared.end());
      const slowMs = shortLease.ttlMs + 700;
      const options = [
        { clockOffsetMs: 7 * 60_000, slowMs },
        { clockOffsetMs: -7 * 60_000, slowMs },
      ];

      it(
        "leave each other's running turns alone, and take over from each other in time",
        () =>
          shared.use(async (cluster) => {
            await (await cluster.single()).kill();
            const [ahead, behind] = await cluster.pair(options);
            // Both run a turn that takes longer than a lease.
            const message = await cluster.client.say(ahead, cluster.conversationId, "retry");
            await cluster.client.fork(behind, cluster.conversationId, "retry");
            await cluster.recover(behind);
            expect(await cluster.reasonOf(behind, message)).toBe("stop");
            expect([...cluster.client.record.started.values()].filter(({ times }) => times > 1)).toEqual([]);

            const cut = await cluster.killAt(ahead, { point: { kind: "tool", name: "slow" } }, say("retry"));
            cluster.moveViewers(behind);
            await cluster.recover(behind, ahead);
            if (cut !== undefined) expect(await cluster.reasonOf(behind, cut)).toBe("stop");
          }),
        caseMs,
      );
    },
    "preferred",
  );
}

function outage(): void {
  describeOnOwnPostgres(
    "a node whose PostgreSQL goes away and comes back",
    (postgres) => {
      let server: PostgresServer;
      let cluster: Cluster;
      beforeAll(async () => {
        server = await postgres.start();
        const { url } = server;
        cluster = new Cluster({
          name: "away",
          store: { url },
          random: new Random(seed + 4),
          readTables: tablesOf(url),
          // Longer than it takes to end the server.
          options: { slowMs: 800 },
        });
        const node = await cluster.start();
        await cluster.watch(node);
        await cluster.nextTurn(node);
      }, caseMs);
      afterEach(() => server.restart());
      afterAll(async () => {
        await cluster.end();
        await server.stop();
      });

      /** Works until the node is at the point, runs `happen` on the database, and checks what is left. */
      const outlive = async (
        plan: KillPlan["point"],
        kind: "talk" | "retry" | "fail",
        happen: () => Promise<void>,
      ) => {
        const node = await cluster.single();
        await node.arm({ point: plan, signal: "none" });
        const message = await cluster.client.say(node, cluster.conversationId, kind);
        await within(node.reached(), "the node is at its point");
        await happen();
        await cluster.recover(node);
        await cluster.nextTurn(node);
        return cluster.reasonOf(node, message);
      };

      it(
        "continues its turn when the server was killed in the middle of a text",
        async () => {
          const reason = await outlive({ kind: "event", type: "text-delta", nth: 8 }, "retry", async () => {
            await server.kill();
            await server.restart();
          });
          expect(reason).toBe("stop");
        },
        caseMs,
      );

      it(
        "continues its turn when the server was killed in the middle of a commit",
        async () => {
          const point = {
            kind: "store",
            method: "commitStep",
            when: "during",
            phase: "results",
            sends: 1,
          } as const;
          const reason = await outlive(point, "retry", async () => {
            await server.kill();
            await server.restart();
          });
          expect(reason).toBe("stop");
        },
        caseMs,
      );

      it(
        "continues its turn when all its connections were ended",
        async () => {
          const reason = await outlive({ kind: "tool", name: "slow" }, "retry", async () => {
            const client = new pg.Client({ connectionString: server.url });
            await client.connect();
            await client.query(
              "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
            );
            await client.end();
          });
          expect(reason).toBe("stop");
        },
        caseMs,
      );

      it(
        "continues its turn when the server took no writes for a while, as one that fails over does",
        async () => {
          const name = new URL(server.url).pathname.slice(1);
          const ask = async (...statements: string[]) => {
            const client = new pg.Client({ connectionString: server.url });
            await client.connect();
            for (const statement of statements) await client.query(statement);
            await client.end();
          };
          const reason = await outlive({ kind: "tool", name: "slow" }, "retry", async () => {
            await ask(
              `ALTER DATABASE ${name} SET default_transaction_read_only = on`,
              "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
            );
            const node = await cluster.single();
            const refused = await cluster.client.say(node, cluster.conversationId, "talk");
            expect(refused.receipt).toBeUndefined();
            await ask(
              "SET default_transaction_read_only = off",
              `ALTER DATABASE ${name} RESET default_transaction_read_only`,
            );
          });
          expect(["stop", "interrupted"]).toContain(reason);
        },
        caseMs,
      );

      it(
        "gives its turn up when the server is away for longer than its lease, and takes it up again by what is durable",
        async () => {
          const reason = await outlive({ kind: "tool", name: "once" }, "fail", async () => {
            await server.kill();
            const node = await cluster.single();
            const refused = cluster.client.say(node, cluster.conversationId, "talk");
            await sleepMs(shortLease.ttlMs + 500);
            await server.restart();
            expect((await refused).receipt).toBeUndefined();
          });
          // The tool's answer may be stored when the server is back and no node has taken the turn over.
          expect(["interrupted", "stop"]).toContain(reason);
        },
        caseMs,
      );
    },
    "preferred",
  );
}
