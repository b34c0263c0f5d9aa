import { isIPv6 } from "node:net";
import type { Clock } from "@parley/core";
import { RateLimiter } from "../limits/rate-limiter.js";
import { looksWhileWaiting, type ServerLimits, type ServerPace } from "../limits/server-limits.js";

const mostAddresses = 10_000;

interface Failures {
  count: number;
  /** Time of the last failure. */
  at: number;
  /** Time until which the address waits. */
  until: number;
}

/**
 * Counts wrong keys and cookies by address. After `failedLogins` of them an address waits, twice as long after each
 * further one; what it sends meanwhile is neither looked up nor counted, so that no caller can make the wait longer
 * than `failedWaitMostMs`. A key is 256 random bits: this bounds the load of guessing, not its chance, which is none.
 * So credentials that are known to be good pass even while their address waits, since strangers may share it.
 */
export class FailedLogins {
  readonly #limits: Pick<ServerLimits, "failedLogins">;
  readonly #pace: Pick<ServerPace, "failedWaitMs" | "failedWaitMostMs" | "failedForgetMs">;
  readonly #clock: Pick<Clock, "monotonic">;
  /** In order of the last failure. */
  readonly #byAddress = new Map<string, Failures>();
  readonly #looks: RateLimiter;

  constructor(
    limits: Pick<ServerLimits, "failedLogins">,
    pace: Pick<ServerPace, "failedWaitMs" | "failedWaitMostMs" | "failedForgetMs">,
    clock: Pick<Clock, "monotonic">,
  ) {
    this.#limits = limits;
    this.#pace = pace;
    this.#clock = clock;
    this.#looks = new RateLimiter({ ...looksWhileWaiting, clock });
  }

  /** Returns the milliseconds that an address still has to wait; 0 if it does not. */
  waitOf(address: string): number {
    const known = this.#byAddress.get(networkOf(address));
    return known === undefined ? 0 : Math.max(0, known.until - this.#clock.monotonic());
  }

  /** Returns true if a cookie may be looked up although its address waits. */
  mayLook(address: string): boolean {
    return this.#looks.take(networkOf(address)).allowed;
  }

  /** Records a wrong key. Returns true if the address waits from now on and did not before. */
  failed(address: string): boolean {
    const now = this.#clock.monotonic();
    const network = networkOf(address);
    const known = this.#byAddress.get(network);
    const isKnown = known !== undefined && now - known.at < this.#pace.failedForgetMs;
    const count = isKnown ? known.count + 1 : 1;
    const over = count - this.#limits.failedLogins;
    const { failedWaitMs, failedWaitMostMs } = this.#pace;
    const wait = over <= 0 ? 0 : Math.min(failedWaitMostMs, failedWaitMs * 2 ** Math.min(30, over - 1));
    this.#byAddress.delete(network);
    if (this.#byAddress.size >= mostAddresses) this.#evictOldest();
    this.#byAddress.set(network, { count, at: now, until: now + wait });
    return over === 1;
  }

  get size(): number {
    return this.#byAddress.size;
  }

  /** Forgets the address whose last failure is the longest ago. */
  #evictOldest(): void {
    const [oldest] = this.#byAddress.keys();
    if (oldest !== undefined) this.#byAddress.delete(oldest);
  }
}

/** Returns the part of an address that one party holds: of IPv6 the first half, since the holder chooses the rest. */
export function networkOf(address: string): string {
  const bare = address.replace(/^::ffff:/i, "").replace(/%.*$/, "");
  if (!isIPv6(bare)) return bare;
  const [head = "", tail] = bare.split("::");
  const groups = head === "" ? [] : head.split(":");
  const behind = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - behind.length);
  const all = [...groups, ...Array.from({ length: zeros }, () => "0"), ...behind];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
