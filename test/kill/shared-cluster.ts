import { Cluster } from "./cluster.js";
import type { Random } from "./random.js";
import type { NodeOptions, NodeStore } from "./running-node.js";
import type { ReadTables } from "./tables.js";

/** A store that a cluster is built on. */
export interface ClusterStore {
  readonly store: NodeStore;
  readonly readTables?: ReadTables;
  /** Options of nodes on it. */
  readonly options?: Partial<NodeOptions>;
  remove(): Promise<void>;
}

/**
 * One cluster for many tests, so that its log grows: each test finds what the previous one left behind. A test that
 * fails ends its cluster.
 */
export class SharedCluster {
  readonly #name: string;
  readonly #random: Random;
  readonly #make: () => Promise<ClusterStore>;
  #current: { readonly cluster: Cluster; remove(): Promise<void> } | undefined;
  #made = 0;

  constructor(name: string, random: Random, make: () => Promise<ClusterStore>) {
    this.#name = name;
    this.#random = random;
    this.#make = make;
  }

  async use(test: (cluster: Cluster) => Promise<void>): Promise<void> {
    try {
      await test(await this.#cluster());
    } catch (error) {
      await this.end();
      throw error;
    }
  }

  async end(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.cluster.end();
    await current?.remove();
  }

  async #cluster(): Promise<Cluster> {
    if (this.#current === undefined) {
      this.#made += 1;
      const { remove, ...store } = await this.#make();
      const cluster = new Cluster({ name: `${this.#name}${this.#made}`, random: this.#random, ...store });
      this.#current = { cluster, remove };
      const node = await cluster.start();
      await cluster.watch(node);
      await cluster.nextTurn(node);
    }
    return this.#current.cluster;
  }
}
