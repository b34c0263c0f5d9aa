/** Conditions under which recent failures mean that a node should get no more work. */
const policy = {
  windowSeconds: 10,
  /** Fewer failures than this are ignored. */
  leastFailures: 5,
  /** Failures of a single moment are ignored, too: they must be spread over this many seconds of the window. */
  leastSeconds: 3,
  /** The share of the calls that must have failed. */
  share: 0.5,
};

interface Second {
  readonly at: number;
  calls: number;
  failures: number;
  unconnected: number;
}

/** Counts the calls of the last seconds and those of them that failed because the database could not be reached. */
export class RecentCalls {
  readonly #now: () => number;
  #seconds: Second[] = [];

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  succeeded(): void {
    this.#current().calls += 1;
  }

  /** Counts a failure; `unconnected` if it got no connection. */
  failed({ unconnected }: { readonly unconnected: boolean }): void {
    const second = this.#current();
    second.calls += 1;
    second.failures += 1;
    if (unconnected) second.unconnected += 1;
  }

  /** Describes the failures if most calls of the last seconds failed; undefined otherwise. */
  trouble(): string | undefined {
    const oldest = this.#second() - policy.windowSeconds;
    this.#seconds = this.#seconds.filter(({ at }) => at > oldest);
    let [calls, failures, unconnected, seconds] = [0, 0, 0, 0];
    for (const second of this.#seconds) {
      calls += second.calls;
      failures += second.failures;
      unconnected += second.unconnected;
      if (second.failures > 0) seconds += 1;
    }
    if (failures < policy.leastFailures || seconds < policy.leastSeconds) return undefined;
    if (failures <= calls * policy.share) return undefined;
    const within = `${failures} of ${calls} calls of the store failed within ${policy.windowSeconds} seconds`;
    return unconnected * 2 > failures
      ? `${within}, most of them for want of a database connection: raise maxConnections, add nodes, or check the connection limits of the database and its pooler`
      : `${within}: check the database server and the network to it`;
  }

  #second(): number {
    return Math.floor(this.#now() / 1_000);
  }

  #current(): Second {
    const at = this.#second();
    const last = this.#seconds.at(-1);
    if (last?.at === at) return last;
    const second = { at, calls: 0, failures: 0, unconnected: 0 };
    this.#seconds.push(second);
    if (this.#seconds.length > policy.windowSeconds) this.#seconds.shift();
    return second;
  }
}
