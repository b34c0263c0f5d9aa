import type { Uses } from "../environment.js";

/** The parts of the environment that find absent nodes. */
export type AbsentNodesUses = Uses<"clock" | "identity" | "lease" | "report" | "root">;

/** This node's part in finding absent nodes. */
export interface AbsentNodesWork {
  /** Returns true while this node may act for others. */
  mayClaim(): boolean;
  /** Takes over the turns of dead nodes. */
  claim(): Promise<void>;
}

/**
 * Finds nodes whose process has ended before their lease does, and retires them.
 *
 * A session that ended is no proof by itself: a process may lose a connection and live. Such a process notices
 * immediately, and sends a heartbeat with another presence, or none. So a node is retired when two checks in a row
 * find it absent and it has sent no heartbeat in between; the store verifies the latter again as it retires the node.
 * If a living node is retired anyway, because it hung while its session was ended, its fence keeps it from writing.
 */
export class AbsentNodes {
  readonly #env: AbsentNodesUses;
  readonly #work: AbsentNodesWork;
  /** The nodes that the last check found, each with its heartbeat then. */
  #found: ReadonlyMap<string, number> = new Map();
  #cancel: () => void = () => {};
  #stopped = false;

  constructor(env: AbsentNodesUses, work: AbsentNodesWork) {
    this.#env = env;
    this.#work = work;
  }

  /** Checks now, and then at its interval. */
  start(): void {
    if (this.#stopped || this.#env.lease.presenceMs <= 0) return;
    void this.#look()
      .catch((error: unknown) => {
        this.#found = new Map();
        this.#env.report(error, "claim");
      })
      .finally(() => {
        if (this.#stopped) return;
        const { clock, lease } = this.#env;
        this.#cancel = clock.after(lease.presenceMs, () => this.start());
      });
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  async #look(): Promise<void> {
    const { identity, root } = this.#env;
    if (!this.#work.mayClaim()) return;
    const absent = (await root.absentNodes()).filter(({ node }) => node !== identity.node);
    const before = this.#found;
    this.#found = new Map(absent.map(({ node, renewal }) => [node, renewal]));
    const gone = absent.filter(({ node, renewal }) => before.get(node) === renewal);
    if (gone.length === 0 || this.#stopped) return;
    await Promise.all(gone.map(({ node, renewal }) => root.retire(node, renewal)));
    await this.#work.claim();
  }
}
