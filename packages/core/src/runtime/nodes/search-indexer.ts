import type { Uses } from "../environment.js";
import { wait } from "./retry.js";

/** Intervals and batch sizes of search indexing. */
export const searchPace = {
  /** Delay after a change: turns that end meanwhile are added together. */
  settleMs: 1_000,
  /** Messages of one batch. */
  batch: 200,
  /** Interval at which all owners are checked, for messages that stopped nodes left unindexed. */
  sweepMs: 5 * 60_000,
  /** Number of messages after which progress is reported, and minimum number for a report at the end. */
  reportEvery: 10_000,
};

/**
 * Fills the search index after the seals, so that no turn waits for it.
 *
 * Owners whose conversations have changed here are woken one by one; a moment later their messages are added, in
 * batches, owner by owner in rounds. All owners are checked at the start and then at intervals: that catches up after
 * crashes, and after a migration. Between two batches of one owner it pauses for as long as a batch takes, so that a
 * large import leaves half of the store to others. A failed batch is tried again with the owner's next change or the
 * next check.
 */
export class SearchIndexer {
  readonly #env: Uses<"root" | "clock" | "hooks" | "report">;
  readonly #owners = new Set<string>();
  readonly #stopped = new AbortController();
  /** Position in the check of all owners; undefined while that is not due. */
  #sweep: { readonly after?: string } | undefined;
  #cancelWork: (() => void) | undefined;
  #cancelSweep: () => void = () => {};
  #working: Promise<void> | undefined;

  constructor(env: Uses<"root" | "clock" | "hooks" | "report">) {
    this.#env = env;
  }

  /** Starts to check all owners. Does not wait for it. */
  start(): void {
    if (this.#stopped.signal.aborted) return;
    this.#sweep = {};
    this.#begin();
    this.#cancelSweep = this.#env.clock.after(searchPace.sweepMs, () => this.start());
  }

  /** Marks that something of this owner has changed. */
  wake(owner: string): void {
    if (this.#stopped.signal.aborted) return;
    this.#owners.add(owner);
    if (this.#working === undefined)
      this.#cancelWork ??= this.#env.clock.after(searchPace.settleMs, () => this.#begin());
  }

  /** Resolves when nothing is in progress any more. The rest is added after the next start, by any node. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#cancelWork?.();
    this.#cancelSweep();
    await this.#working;
  }

  #begin(): void {
    this.#cancelWork?.();
    this.#cancelWork = undefined;
    this.#working ??= this.#work()
      .catch((error: unknown) => this.#env.report(error, "search index"))
      .finally(() => {
        this.#working = undefined;
        // Woken while the last batch was in progress, or left over by a failure.
        const [left] = this.#owners;
        if (left !== undefined) this.wake(left);
      });
  }

  async #work(): Promise<void> {
    const { root, clock } = this.#env;
    let total = 0;
    let reported = 0;
    let hasFailed = false;
    while (!this.#stopped.signal.aborted) {
      const [owner] = this.#owners;
      if (owner === undefined) {
        if (!(await this.#lookFurther())) break;
        continue;
      }
      this.#owners.delete(owner);
      const startedAt = clock.monotonic();
      let batch = { indexed: 0, more: false };
      try {
        batch = await root.indexSearch({ owner, limit: searchPace.batch });
      } catch (error) {
        // Others may be on a server that answers. One report for all: without a database each of them fails.
        if (!hasFailed) this.#env.report(error, "search index");
        hasFailed = true;
      }
      total += batch.indexed;
      if (total - reported >= searchPace.reportEvery) {
        reported = total;
        this.#report(total, false);
      }
      if (!batch.more) continue;
      this.#owners.add(owner);
      await wait(this.#env, clock.monotonic() - startedAt, this.#stopped.signal);
    }
    if (reported > 0) this.#report(total, !this.#stopped.signal.aborted);
  }

  /** Returns true if there is more to do: finds the next owners with missing messages. */
  async #lookFurther(): Promise<boolean> {
    const sweep = this.#sweep;
    if (sweep === undefined) return false;
    this.#sweep = undefined;
    const { owners, next } = await this.#env.root.unindexedOwners(sweep);
    for (const owner of owners) this.#owners.add(owner);
    if (next !== undefined) this.#sweep = { after: next };
    return owners.length > 0 || next !== undefined;
  }

  #report(indexed: number, done: boolean): void {
    try {
      this.#env.hooks.onSearchIndexed?.({ indexed, done });
    } catch (error) {
      this.#env.report(error, "onSearchIndexed");
    }
  }
}
