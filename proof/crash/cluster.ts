import type { LeasePace } from "@parley/core/runtime";
import type { Random } from "../../test/kill/random.js";
import type { NodeOptions, NodeStore, RunningNode } from "../../test/kill/running-node.js";
import type { ReadTables } from "../../test/kill/tables.js";
import { lookAgain } from "./http-log.js";
import { LoadBalancer } from "./load-balancer.js";
import { Nodes } from "./nodes.js";
import { Stall } from "./stall.js";

/** Time after the end of a lease that a turn may stay open. */
const graceMs = 2_000;
/** Time after which it is given up. */
const patienceMs = 30_000;

/** A store for the nodes of a cluster. */
export interface ClusterStore {
  readonly store: NodeStore;
  readonly lease: LeasePace;
  /** Reads the tables while nodes run, if possible. */
  readonly readTables?: ReadTables;
  remove(): Promise<void>;
}

/** Time during which no live node held something. */
export interface Recovery {
  /** From the death, or another fault, until live nodes held everything. */
  readonly ms: number;
  /** Upper bound of that time. */
  readonly limitMs: number;
}

/**
 * Short, so that leftover files are removed before the next case; longer than it takes to send a file that was
 * uploaded.
 */
export const filePace = { unsentMs: 2_500, stalledMs: 1_500, sweepMs: 100 };

/** Short texts: as many kinds of moments in as little time as possible. */
const pace: Partial<NodeOptions> = { pieces: 2, pieceMs: 2, slowMs: 90, files: filePace };

/** One store with running nodes. */
export class Cluster {
  readonly nodes: Nodes;
  readonly lease: LeasePace;
  readonly readTables: ReadTables | undefined;
  /** Messages that clients removed from queues. */
  readonly removed = new Set<string>();
  /** The files that messages refer to, by hash, with their sizes. */
  readonly files = new Map<string, number>();
  #balancer: Promise<LoadBalancer> | undefined;
  readonly #embedded: boolean;
  readonly #remove: () => Promise<void>;

  constructor(name: string, { store, lease, readTables, remove }: ClusterStore, random: Random) {
    this.lease = lease;
    this.readTables = readTables;
    this.#embedded = "folder" in store;
    this.#remove = remove;
    this.nodes = new Nodes(name, { store, lease, isServed: true, ...pace }, random);
  }

  /**
   * Waits until these nodes, which are dead or asleep, hold nothing; or without any, until nothing is held under a
   * name that no node has any more. On an embedded store no node waits for leases, but for the next node.
   */
  async recovered(
    since: number,
    conversations: () => readonly string[],
    gone: readonly RunningNode[],
  ): Promise<Recovery> {
    const { nodes } = this;
    const stall = new Stall();
    try {
      for (;;) {
        const isGone = gone.length > 0 ? isNameOf(gone) : await this.#isNameOfNoNode();
        const held: string[] = [];
        for (const id of conversations()) {
          const [asleep] = gone.filter((node) => node.alive);
          const record = await nodes.ask((node) => stall.measure(node.record(id).catch(unavailable)), asleep);
          const holder = record === undefined ? undefined : record?.active?.node;
          if (record === undefined || (holder !== undefined && isGone(holder)))
            held.push(`${id} by ${holder}`);
        }
        const ms = performance.now() - since;
        const ttlMs = this.#embedded ? 0 : this.lease.ttlMs;
        const startMs = Math.max(0, nodes.attendedSince - since);
        const limitMs = Math.max(ttlMs, startMs) + graceMs + stall.ms;
        if (held.length === 0) return { ms, limitMs };
        if (ms > limitMs + patienceMs) throw new Error(`no node takes over: ${held.join(", ")}`);
        await lookAgain();
      }
    } finally {
      stall.end();
    }
  }

  /** Returns the address for a client that does not know of nodes. */
  async url(): Promise<string> {
    this.#balancer ??= LoadBalancer.open(this.nodes);
    return (await this.#balancer).url;
  }

  async end(): Promise<void> {
    await this.nodes.end();
    await (await this.#balancer)?.close();
    await this.#remove();
  }

  async #isNameOfNoNode(): Promise<(holder: string) => boolean> {
    const names = new Set<string>();
    for (const node of this.nodes.living) {
      const status = await node.status().catch(unavailable);
      if (status !== undefined) names.add(status.node);
    }
    return (holder) => !names.has(holder);
  }
}

/** A node that loses its lease continues under its name with a number appended. */
function isNameOf(nodes: readonly RunningNode[]): (holder: string) => boolean {
  return (holder) => nodes.some(({ name }) => holder === name || holder.startsWith(`${name}+`));
}

/** A node that dies, or has no store, cannot answer. */
function unavailable(): undefined {
  return undefined;
}
