import { defaultLeasePace } from "@parley/core/runtime";
import type { SharedPostgres } from "../../test/harness/postgres.js";
import { sleepMs } from "../../test/kill/cluster.js";
import { Random } from "../../test/kill/random.js";
import { NodeDied, RunningNode } from "../../test/kill/running-node.js";
import type { ProofResult } from "../record-result.js";
import { lookAgain } from "./http-log.js";

/** Time within which the turns of a killed process are held by a live node, or have ended, for 99 of 100 of them. */
const limitMs = 2_000;
/** Time after which it is given up. */
const patienceMs = 60_000;

/** Kills nodes that keep their leases as they do by default, and measures how long their turns stay with them. */
export async function measureTakeovers(
  postgres: SharedPostgres,
  { kills, seed }: { readonly kills: number; readonly seed: number },
): Promise<Takeovers> {
  const { url, drop } = await postgres.createDatabase();
  const random = new Random(seed);
  const nodes: RunningNode[] = [];
  const start = async () => {
    const name = `takeover-${nodes.length + 1}`;
    // Turns last longer than it takes to kill their node and to detect it.
    const options = {
      name,
      store: { url },
      lease: defaultLeasePace,
      pieces: 400,
      pieceMs: 10,
      slowMs: 4_000,
    };
    const node = await RunningNode.start(options);
    nodes.push(node);
    return node;
  };
  try {
    const times: number[] = [];
    for (let kill = 1; kill <= kills; kill += 1) {
      const living = () => nodes.filter((node) => node.alive);
      while (living().length < 2) await start();
      const [victim, other] = living() as [RunningNode, RunningNode];
      const conversationId = `takeover-${kill}`;
      const kind = random.pick(["talk", "retry", "fail"] as const);
      await victim.send({ conversationId, messageId: `m-${kill}`, message: `do ${kind} m-${kill}` });
      // Long enough for a turn to be anywhere between its first word and its tools, and the heartbeat at any age.
      await sleepMs(random.between(0, 3_000));
      const killedAt = performance.now();
      await victim.kill();
      times.push(await heldBy(other, conversationId, victim, killedAt));
    }
    return new Takeovers(times);
  } finally {
    for (const node of nodes) if (node.alive) await node.kill();
    await drop();
  }
}

/** Waits until the dead node holds nothing any more. Returns how long that took. */
async function heldBy(
  other: RunningNode,
  conversationId: string,
  dead: RunningNode,
  since: number,
): Promise<number> {
  for (;;) {
    const record = await other.record(conversationId);
    const ms = performance.now() - since;
    const holder = record?.active?.node;
    if (record !== null && holder?.startsWith(`${dead.name}+`) !== true) return ms;
    if (ms > patienceMs) throw new NodeDied(`${dead.name} is dead, and no node takes ${conversationId} over`);
    await lookAgain();
  }
}

/** Times that turns stayed with nodes that were killed. */
export class Takeovers {
  readonly #ms: readonly number[];

  constructor(ms: readonly number[]) {
    this.#ms = [...ms].sort((left, right) => left - right);
  }

  table(): ProofResult["tables"][number] {
    return {
      title: "How long turns stayed with a killed process, one of two, with leases as they are by default",
      columns: ["kills", "median", "p90", "p99", "longest"],
      rows: [[this.#ms.length, ...[0.5, 0.9, 0.99, 1].map((share) => `${inMs(this.#at(share))} ms`)]],
    };
  }

  statement(): string {
    const p99 = this.#at(0.99);
    const verdict = p99 < limitMs ? "PASS" : "MISS";
    return (
      `${verdict} takeover after SIGKILL with default leases: p99 ${inMs(p99)} ms of ${this.#ms.length} kills, ` +
      `under ${inMs(limitMs)} ms`
    );
  }

  #at(share: number): number {
    return this.#ms[Math.max(0, Math.ceil(share * this.#ms.length) - 1)] ?? Number.POSITIVE_INFINITY;
  }
}

function inMs(ms: number): string {
  return Math.round(ms).toLocaleString("en-US");
}
