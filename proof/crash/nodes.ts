import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../test/kill/random.js";
import { NodeDied, type NodeOptions, type NodeReport, RunningNode } from "../../test/kill/running-node.js";

/** The nodes on one store, and the one that clients use. */
export class Nodes {
  /** In the order in which they were started. */
  readonly all: RunningNode[] = [];
  /** The node that clients prefer. */
  home: RunningNode | undefined;
  onReport: (report: NodeReport) => void = () => {};
  /** Time when there was a node again, after there had been none; by `performance.now()`. */
  attendedSince = 0;
  readonly #options: Omit<NodeOptions, "name">;
  readonly #name: string;
  readonly #random: Random;
  #started = 0;

  constructor(name: string, options: Omit<NodeOptions, "name">, random: Random) {
    this.#name = name;
    this.#options = options;
    this.#random = random;
  }

  get living(): RunningNode[] {
    return this.all.filter((node) => node.alive);
  }

  async start(): Promise<RunningNode> {
    this.#started += 1;
    const started = await RunningNode.start({
      ...this.#options,
      name: `${this.#name}-node-${this.#started}`,
    });
    if (this.living.length === 0) this.attendedSince = performance.now();
    for (const report of started.reports) this.onReport(report);
    started.onReport = (report) => this.onReport(report);
    this.all.push(started);
    return started;
  }

  /** Returns at least `count` live nodes. */
  async atLeast(count: number): Promise<readonly RunningNode[]> {
    while (this.living.length < count) await this.start();
    return this.living;
  }

  /** Returns any live node. */
  any(): RunningNode | undefined {
    const { living } = this;
    return living.length === 0 ? undefined : this.#random.pick(living);
  }

  /**
   * Returns a node for a client: the home, or with `away` another one; any other than the one to avoid, if there is
   * one.
   */
  async reach(
    options: {
      readonly avoid?: RunningNode | undefined;
      readonly away?: boolean;
      /** Gives up: there may never be a node again. */
      readonly signal?: AbortSignal;
    } = {},
  ): Promise<RunningNode> {
    for (;;) {
      options.signal?.throwIfAborted();
      const living = this.living;
      const open = living.filter((node) => node !== options.avoid);
      const wanted = open.filter((node) => (node === this.home) !== (options.away === true));
      if (wanted.length > 0) return this.#random.pick(wanted);
      if (open.length > 0) return this.#random.pick(open);
      // The only one there is, again, after a while.
      await sleep(20);
      if (living.length > 0) return this.#random.pick(living);
    }
  }

  /** Calls one of the nodes, whichever lives long enough to answer. */
  async ask<T>(question: (node: RunningNode) => Promise<T>, avoid?: RunningNode): Promise<T> {
    for (;;) {
      const node = await this.reach({ avoid });
      try {
        return await question(node);
      } catch (error) {
        if (!(error instanceof NodeDied)) throw error;
        // Until the system reports that the process is gone it counts as live, and would be called again at once,
        // forever.
        await sleep(20);
      }
    }
  }

  async end(): Promise<void> {
    for (const node of this.all) if (node.alive) await node.kill();
  }
}
