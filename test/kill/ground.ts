import type { Random } from "./random.js";
import type { NodeOptions, NodeStore } from "./running-node.js";
import { Stage } from "./stage.js";
import type { ReadTables } from "./tables.js";

/** A store that a stage is built on. */
export interface GroundStore {
  readonly store: NodeStore;
  readonly readTables?: ReadTables;
  /** Options of nodes on it. */
  readonly options?: Partial<NodeOptions>;
  remove(): Promise<void>;
}

/**
 * One stage for many tests, so that its log grows: each test finds what the previous one left behind. A test that
 * fails ends its stage.
 */
export class Ground {
  readonly #name: string;
  readonly #random: Random;
  readonly #make: () => Promise<GroundStore>;
  #current: { readonly stage: Stage; remove(): Promise<void> } | undefined;
  #made = 0;

  constructor(name: string, random: Random, make: () => Promise<GroundStore>) {
    this.#name = name;
    this.#random = random;
    this.#make = make;
  }

  async use(test: (stage: Stage) => Promise<void>): Promise<void> {
    try {
      await test(await this.#stage());
    } catch (error) {
      await this.end();
      throw error;
    }
  }

  async end(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    await current?.stage.end();
    await current?.remove();
  }

  async #stage(): Promise<Stage> {
    if (this.#current === undefined) {
      this.#made += 1;
      const { remove, ...store } = await this.#make();
      const stage = new Stage({ name: `${this.#name}${this.#made}`, random: this.#random, ...store });
      this.#current = { stage, remove };
      const node = await stage.start();
      await stage.watch(node);
      await stage.nextTurn(node);
    }
    return this.#current.stage;
  }
}
