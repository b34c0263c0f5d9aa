import type { OpenTurn } from "../delivery/open-turn.js";
import type { TurnRun } from "./turn-run.js";

/** A turn that runs on this node. */
export interface RunningTurn {
  readonly run: TurnRun;
  /** Resolves when the run has ended and its turn is no longer in the table. */
  readonly ended: Promise<void>;
}

/** Number of turns that are remembered after their end. */
const mostEnded = 1_000;

/** The table of the turns that run on this node, at most one per conversation. */
export class RunningTurns {
  readonly #byLog = new Map<number, RunningTurn>();
  /** Turns that have ended here, by their id and fence, the latest last. */
  readonly #ended = new Set<string>();
  readonly #listeners = new Set<(live: OpenTurn) => void>();

  get size(): number {
    return this.#byLog.size;
  }

  sizeOf(owner: string): number {
    let count = 0;
    for (const { run } of this.#byLog.values()) if (run.owner === owner) count += 1;
    return count;
  }

  get(log: number): RunningTurn | undefined {
    return this.#byLog.get(log);
  }

  /**
   * Returns true if a turn has run here under this fence, with any result. It never runs again: the answer to a
   * repeated call may come so late that it reports a turn as opened which is sealed by then.
   */
  hasRun({ turnId, fence }: { readonly turnId: string; readonly fence: number }): boolean {
    return this.#ended.has(`${fence} ${turnId}`);
  }

  /** Returns the turn that runs here, unless it is lost. */
  active(log: number): OpenTurn | undefined {
    const run = this.#byLog.get(log)?.run;
    return run?.isLost ? undefined : run?.live;
  }

  /** Returns the turn of an owner's conversation that runs here, unless it is lost. */
  activeOf(owner: string, conversationId: string): OpenTurn | undefined {
    for (const { run } of this.#byLog.values()) {
      const { live, isLost } = run;
      if (live.owner === owner && live.conversationId === conversationId && !isLost) return live;
    }
    return undefined;
  }

  /**
   * Calls a listener with each turn that starts here, before anything of it is published. Returns a function that
   * stops it.
   */
  onAdded(listener: (live: OpenTurn) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  all(): RunningTurn[] {
    return [...this.#byLog.values()];
  }

  add(running: RunningTurn): void {
    const { live } = running.run;
    this.#byLog.set(live.log, running);
    for (const listener of [...this.#listeners]) listener(live);
  }

  /** Removes a turn, unless another one has taken its place. */
  remove(live: OpenTurn): void {
    const { log, epoch, turnId } = live;
    if (this.#byLog.get(log)?.run.live === live) this.#byLog.delete(log);
    this.#ended.add(`${epoch} ${turnId}`);
    const [oldest] = this.#ended;
    if (this.#ended.size > mostEnded && oldest !== undefined) this.#ended.delete(oldest);
  }

  /** Resolves when nothing runs here any more. */
  async allEnded(): Promise<void> {
    while (this.#byLog.size > 0) await Promise.all(this.all().map(({ ended }) => ended));
  }
}
