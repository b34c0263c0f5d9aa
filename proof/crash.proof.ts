import { afterAll, describe, expect, it } from "vitest";
import { describeOnOwnPostgres, describeOnPostgres } from "../test/harness/postgres.js";
import { shortLease } from "../test/kill/cluster.js";
import { Random } from "../test/kill/random.js";
import { deaths, outages, type Share, sleeps } from "./crash/cases.js";
import { Cluster } from "./crash/cluster.js";
import { onEmbedded, onOwnPostgres, onPostgres, sleepersLease } from "./crash/environments.js";
import { behindProxy, freezes } from "./crash/frozen.js";
import { fillDisk, mountSmallDisk } from "./crash/full-disk.js";
import { type Recording, record } from "./crash/recording.js";
import { type Case, type Environment, runCases } from "./crash/run-cases.js";
import { attach, converse, decide, type Scenario } from "./crash/scenario.js";
import { onShards, shardFaults } from "./crash/shards.js";
import { Slots } from "./crash/slots.js";
import { measureTakeovers, type Takeovers } from "./crash/takeover.js";
import { Tally } from "./crash/tally.js";
import { long, recordResult, seed } from "./record-result.js";

const leastKills = 200;
const tally = new Tally();
const slots = new Slots();
const startedAt = performance.now();

const leastDecisionKills = 100;
const decisions = new Tally(", around decisions", [
  { kind: "undecided", column: "ran without a decision", claim: "tools that ran without a decision" },
  { kind: "twice", column: "ran twice", claim: "tools that ran twice" },
  { kind: "bytes", column: "ran with other bytes", claim: "tools that ran with other bytes than approved" },
  { kind: "decision", column: "decisions lost or doubled", claim: "decisions lost, doubled or not followed" },
]);

const leastFileKills = 60;
const files = new Tally(", around files", [
  { kind: "file", column: "files lost", claim: "files lost, or with other bytes, that a message refers to" },
  {
    kind: "orphan",
    column: "left behind",
    claim: "files that nothing refers to and that outlive their grace",
  },
]);

/** Store on which the scenarios are recorded: PostgreSQL if there is one. */
let recordedOn = onEmbedded();
const recorded = new Map<Scenario, Promise<Recording>>();

/** Returns the moments of a scenario, the same for all environments. */
function recording(scenario: Scenario = converse): Promise<Recording> {
  const made = recorded.get(scenario) ?? makeRecording(recordedOn, scenario);
  recorded.set(scenario, made);
  return made;
}

async function makeRecording(environment: Environment, scenario: Scenario): Promise<Recording> {
  const cluster = new Cluster(`recording-${scenario.name}`, await environment.makeStore(), new Random(seed));
  try {
    const made = await record(cluster, { id: `recording-${scenario.name}`, seed, scenario });
    expect(made.outcome.findings).toEqual([]);
    return made.recording;
  } finally {
    await cluster.end();
  }
}

/** In the short form the moments are distributed. PGlite gets fewest: a node on it takes longest to start. */
const shares = {
  pglite: {
    nodes: 1,
    isEmbedded: true,
    selects: ofEveryTwelve(11),
    randomKills: long ? 60 : 5,
    againShare: 0.15,
  },
  embedded: {
    nodes: 1,
    isEmbedded: true,
    selects: ofEveryTwelve(0, 3, 6, 9),
    randomKills: long ? 150 : 16,
    againShare: 0.3,
  },
  single: {
    nodes: 1,
    isEmbedded: false,
    selects: ofEveryTwelve(2, 4, 8),
    randomKills: long ? 150 : 16,
    againShare: 0.3,
  },
  pair: {
    nodes: 2,
    isEmbedded: false,
    selects: ofEveryTwelve(1, 5, 7, 10),
    randomKills: long ? 150 : 16,
    againShare: 0.3,
  },
  shards: {
    nodes: 2,
    isEmbedded: false,
    selects: long ? undefined : (index: number) => index % 24 === 5,
    randomKills: long ? 40 : 4,
    againShare: 0.3,
  },
} satisfies Record<string, Share>;

/** Two environments share the moments around decisions; the embedded store gets a few of them as well. */
const decisionShares = {
  embedded: {
    nodes: 1,
    isEmbedded: true,
    selects: ofEveryTwelve(5),
    randomKills: long ? 30 : 3,
    againShare: 0.15,
  },
  single: {
    nodes: 1,
    isEmbedded: false,
    selects: ofEveryTwelve(0, 2, 4, 6, 8, 10),
    randomKills: long ? 100 : 10,
    againShare: 0.3,
  },
  pair: {
    nodes: 2,
    isEmbedded: false,
    selects: ofEveryTwelve(1, 3, 7, 9, 11),
    randomKills: long ? 100 : 10,
    againShare: 0.3,
  },
} satisfies Record<string, Share>;

/** The environments share the writes and acknowledgements around files. */
const fileShares = {
  embedded: {
    nodes: 1,
    isEmbedded: true,
    selects: ofEveryTwelve(3, 9),
    randomKills: long ? 30 : 4,
    againShare: 0.15,
    withoutFrames: true,
  },
  single: {
    nodes: 1,
    isEmbedded: false,
    selects: ofEveryTwelve(0, 2, 4, 6, 8),
    randomKills: long ? 100 : 8,
    againShare: 0.3,
    withoutFrames: true,
  },
  pair: {
    nodes: 2,
    isEmbedded: false,
    selects: ofEveryTwelve(1, 5, 7, 10, 11),
    randomKills: long ? 100 : 8,
    againShare: 0.3,
    withoutFrames: true,
  },
} satisfies Record<string, Share>;

/** Returns deaths in another scenario than the usual one. */
async function deathsIn(scenario: Scenario, share: Share, by: number): Promise<Case[]> {
  return deaths(await recording(scenario), share, by).map((each) => ({ ...each, scenario }));
}

function ofEveryTwelve(...remainders: readonly number[]): Share["selects"] {
  return long ? undefined : (index) => remainders.includes(index % 12);
}

/** Measured before everything else, since a machine that is busy with other nodes is slow. */
let takeovers: Takeovers | undefined;

describeOnPostgres(
  "a killed process",
  (postgres) => {
    it("loses its turns at once, with leases as they are by default", async () => {
      takeovers = await measureTakeovers(postgres, { kills: long ? 200 : 30, seed });
      expect(takeovers.statement()).toMatch(/^PASS/);
    });
  },
  "preferred",
);

/** All of it waits for leases and processes more than it computes: the environments run side by side. */
describe.concurrent("acknowledged facts survive", () => {
  it("the death of the only node, on its private PostgreSQL", async () => {
    const cases = deaths(await recording(), shares.embedded, seed + 6);
    await runCases(onEmbedded(), cases, { workers: 2, seed: seed + 6, tally, slots });
  });

  it("the death of the only node, on PGlite", async () => {
    const cases = deaths(await recording(), shares.pglite, seed);
    await runCases(onEmbedded("pglite"), cases, { workers: 1, seed, tally, slots });
  });
});

describe.concurrent("acknowledged facts survive", () => {
  describeOnPostgres(
    "on PostgreSQL",
    (postgres) => {
      const single = onPostgres(postgres, { name: "one node on PostgreSQL", prefix: "one" });
      recordedOn = single;

      it.concurrent("the death of the only node", async () => {
        const cases = deaths(await recording(), shares.single, seed + 1);
        await runCases(single, cases, { workers: 2, seed: seed + 1, tally, slots });
      });

      it.concurrent("the death of one of two nodes, and of both", async () => {
        const cases = deaths(await recording(), shares.pair, seed + 2);
        const environment = onPostgres(postgres, { name: "two nodes on PostgreSQL", prefix: "two" });
        await runCases(environment, cases, { workers: 2, seed: seed + 2, tally, slots });
      });

      it.concurrent("connections to the database that go silent", async () => {
        const environment = behindProxy(postgres, { name: "connections frozen", prefix: "frozen" });
        const cases = freezes(await recording(), environment, long ? 60 : 8, seed + 5);
        await runCases(environment, cases, { workers: 1, seed: seed + 5, tally, slots });
      });

      it.concurrent("the sleep of one of two nodes, longer than its lease", async () => {
        const cases = sleeps(await recording(), long ? 60 : 8, seed + 3);
        const lease = sleepersLease;
        const environment = onPostgres(postgres, { name: "a node asleep, of two", prefix: "sleep", lease });
        await runCases(environment, cases, { workers: 1, seed: seed + 3, tally, slots });
      });
    },
    "preferred",
  );
});

describe.concurrent("acknowledged facts survive", () => {
  describeOnOwnPostgres(
    "when PostgreSQL is killed",
    (postgres) => {
      it("and comes back", async () => {
        const environment = await onOwnPostgres(postgres, { name: "PostgreSQL killed", prefix: "away" });
        try {
          const cases = outages(await recording(), environment.server, long ? 60 : 8, seed + 4);
          await runCases(environment, cases, { workers: 1, seed: seed + 4, tally, slots });
        } finally {
          await environment.server.stop();
        }
      });
    },
    "preferred",
  );
});

let pauses: readonly number[] = [];

describe.concurrent("acknowledged facts survive on shards", () => {
  describeOnOwnPostgres(
    "on three servers with four schemas",
    (postgres) => {
      it("a server killed, a standby promoted, and an owner moved, with two nodes", async () => {
        const environment = await onShards(postgres, { name: "two nodes on four shards", prefix: "shard" });
        pauses = environment.pauses;
        try {
          const options = { share: shares.shards, rounds: long ? 20 : 4, seed: seed + 12 };
          const cases = shardFaults(await recording(), environment, options);
          await runCases(environment, cases, { workers: 1, seed: seed + 12, tally, slots });
        } finally {
          await environment.stop();
        }
      });
    },
    "preferred",
  );
});

describe.concurrent("decisions survive", () => {
  it("the death of the only node, on an embedded store", async () => {
    const cases = await deathsIn(decide, decisionShares.embedded, seed + 6);
    await runCases(onEmbedded(), cases, { workers: 1, seed: seed + 6, tally: decisions, slots });
  });

  describeOnPostgres(
    "on PostgreSQL",
    (postgres) => {
      it.concurrent("the death of the only node", async () => {
        const environment = onPostgres(postgres, { name: "one node on PostgreSQL", prefix: "ask" });
        recordedOn = environment;
        const cases = await deathsIn(decide, decisionShares.single, seed + 7);
        await runCases(environment, cases, { workers: 2, seed: seed + 7, tally: decisions, slots });
      });

      it.concurrent("the death of one of two nodes, and of both", async () => {
        const cases = await deathsIn(decide, decisionShares.pair, seed + 8);
        const environment = onPostgres(postgres, { name: "two nodes on PostgreSQL", prefix: "asks" });
        await runCases(environment, cases, { workers: 2, seed: seed + 8, tally: decisions, slots });
      });
    },
    "preferred",
  );
});

describe.concurrent("files survive", () => {
  it("the death of the only node, on an embedded store", async () => {
    const cases = await deathsIn(attach, fileShares.embedded, seed + 9);
    await runCases(onEmbedded(), cases, { workers: 1, seed: seed + 9, tally: files, slots });
  });

  describeOnPostgres(
    "on PostgreSQL",
    (postgres) => {
      it.concurrent("the death of the only node", async () => {
        const environment = onPostgres(postgres, { name: "one node on PostgreSQL", prefix: "file" });
        recordedOn = environment;
        const cases = await deathsIn(attach, fileShares.single, seed + 10);
        await runCases(environment, cases, { workers: 2, seed: seed + 10, tally: files, slots });
      });

      it.concurrent("the death of one of two nodes, and of both", async () => {
        const cases = await deathsIn(attach, fileShares.pair, seed + 11);
        const environment = onPostgres(postgres, { name: "two nodes on PostgreSQL", prefix: "files" });
        await runCases(environment, cases, { workers: 2, seed: seed + 11, tally: files, slots });
      });
    },
    "preferred",
  );
});

/** States for how long owners could not write while they moved. */
function pausesStatement(): string {
  if (pauses.length === 0) return "MISS an owner moved under load: it was not tried";
  const sorted = pauses.map(Math.ceil).toSorted((left, right) => left - right);
  const middle = sorted[Math.floor(sorted.length / 2)];
  return `PASS an owner moved under load ${pauses.length} times; its writes paused for ${middle} ms in the middle, ${sorted.at(-1)} ms at most`;
}

/** Results of the full disk: its table, and its claims. */
const fullDisks: Awaited<ReturnType<typeof fillDisk>>[] = [];
let whyNoDisk = "it was not tried";

describe("a full disk under an embedded store", () => {
  it.each(["postgres", "pglite"] as const)("refuses, recovers, and loses nothing (%s)", async (engine) => {
    const disk = await mountSmallDisk();
    if ("failure" in disk) {
      whyNoDisk = disk.failure;
      console.error(`NOT PROVEN: a full disk. No tmpfs can be mounted here (${whyNoDisk}); run it as root.`);
      return;
    }
    try {
      fullDisks.push(await fillDisk(disk.path, engine));
    } finally {
      await disk.unmount();
    }
    const statements = fullDisks.flatMap((each) => each.statements);
    expect(statements.filter((statement) => !statement.startsWith("PASS"))).toEqual([]);
  });
});

afterAll(async () => {
  const { frames, calls, acknowledgements } = await recording();
  const decided = await recording(decide);
  const attached = await recording(attach);
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  recordResult({
    title: "Crashes",
    about:
      `Clients talk over HTTP, event streams and sockets to nodes that are killed (SIGKILL), frozen (SIGSTOP) or lose their database, or whose connections to it go silent, ` +
      `in a scenario with turns, tools, steering, an edited queue, a stop, a compaction and a fork. It was recorded once: ${frames.length} events, ` +
      `${calls.length} writes, ${acknowledgements} acknowledgements. ${long ? "In each environment a node dies before and after every event, before, in and after every write" : "A node dies at every one of them, dealt out to the environments"}, ` +
      `and at random moments; often the one that takes over dies too. Then everything that clients received is compared with the log as a new client reads it. ` +
      `A second scenario is about decisions: calls that people allow, deny and change, two of them at once through two nodes, a stop while a turn waits, and questions, from the model and from a tool that runs. ` +
      `It has ${decided.frames.length} events, ${decided.calls.length} writes and ${decided.acknowledgements} acknowledgements, and nodes die at each of them as well. ` +
      `A third one is about files: uploads, messages with files in the log and in the queue, the same bytes again, an upload that is never sent, a fork, and conversations that are removed. ` +
      `It has ${attached.frames.length} events, ${attached.calls.length} writes, the collector's included, and ${attached.acknowledgements} acknowledgements. At the end of each case every file is read, and the store has to hold exactly the bytes that messages refer to. ` +
      `Seed ${seed}, ${minutes} minutes; leases last ${shortLease.ttlMs} ms (asleep: ${sleepersLease.ttlMs} ms; by default 10 s).`,
    tables: [
      ...(takeovers === undefined ? [] : [takeovers.table()]),
      ...tally.tables(),
      ...decisions.tables(),
      ...files.tables(),
      ...fullDisks.map(({ table }) => table),
    ],
    statements: [
      pausesStatement(),
      takeovers?.statement() ?? "MISS takeover after SIGKILL with default leases: not measured",
      ...tally.statements(leastKills),
      ...decisions
        .statements(leastDecisionKills)
        .map((line) => line.replace(/^(PASS|MISS) /, "$1 around decisions: ")),
      ...files.statements(leastFileKills).map((line) => line.replace(/^(PASS|MISS) /, "$1 around files: ")),
      ...(fullDisks.length > 0
        ? fullDisks.flatMap(({ statements }) => statements)
        : [`MISS full disk: no tmpfs can be mounted here (${whyNoDisk}); run it as root`]),
    ],
  });
  expect(tally.words).toEqual([]);
  expect(tally.kills).toBeGreaterThanOrEqual(leastKills);
  expect(files.words).toEqual([]);
  expect(files.kills).toBeGreaterThanOrEqual(leastFileKills);
  expect(decisions.words).toEqual([]);
  expect(decisions.kills).toBeGreaterThanOrEqual(leastDecisionKills);
});
