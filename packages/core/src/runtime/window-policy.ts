import type { Clock } from "../clock.js";

/** One model of the catalog, for one owner. */
export interface WindowUse {
  readonly owner: string;
  /** As `credential/model`. */
  readonly model: string;
  /** The window that the model was declared with, in tokens. */
  readonly declaredWindow: number;
}

/** A request that the provider answered. */
export interface FittingRequest {
  /** The estimated tokens of the request before it was sent. */
  readonly estimatedTokens: number;
  /** The input tokens that the provider reported. */
  readonly reportedTokens?: number | undefined;
}

/** A request that the provider refused because it does not fit the window. */
export interface OverflowingRequest {
  readonly estimatedTokens: number;
  /** The limit in tokens that the provider named in its refusal. */
  readonly namedWindow?: number | undefined;
}

/** A change of the window that requests are planned with. Holds no message content. */
export interface WindowChange {
  readonly model: string;
  /** The owner whose request led to the change. */
  readonly owner: string;
  /** `everyone`: the new window holds for all owners. */
  readonly scope: "owner" | "everyone";
  readonly from: number;
  readonly to: number;
  /**
   * `named`: the provider named the limit. `inferred`: it refused a request near the declared window. `disproved`: it
   * answered a request that is longer than a learned limit.
   */
  readonly source: "named" | "inferred" | "disproved";
}

/**
 * Decides which window requests are planned with: the history's budget, the compaction threshold and the gauge all
 * use it. It only shortens requests: one whose required part exceeds the returned window is still sent as long as it
 * fits the declared one.
 */
export interface WindowPolicy {
  /** Returns the window for an owner's requests to a model. The runtime never uses more than the declared window. */
  windowFor(use: WindowUse): number;
  /** Records a request that fit. Returns the change that follows from it, if any. */
  succeeded(use: WindowUse, request: FittingRequest): WindowChange | undefined;
  /** Records a request that did not fit. Returns the change that follows from it, if any. */
  overflowed(use: WindowUse, request: OverflowingRequest): WindowChange | undefined;
}

/** The numbers of the default policy. */
export interface WindowRules {
  /** Time that an observation is valid. */
  readonly memoryMs: number;
  /** An overflow that names no limit counts only above this share of the declared window. */
  readonly inferAbove: number;
  /** Share of the refused request that is then used as the window. */
  readonly inferredShare: number;
  /** A named limit below this many tokens is ignored. */
  readonly smallestWindow: number;
  /** Number of owners that must have been given the same limit before it holds for everyone. */
  readonly ownersToConfirm: number;
  /** Reported tokens count up to this many times the estimate. */
  readonly largestReport: number;
  /** Maximum number of owners' limits that are kept for one model; the oldest are dropped. */
  readonly ownersPerModel: number;
}

/** Numbers of the default policy. */
export const defaultWindowRules: WindowRules = {
  memoryMs: 60 * 60_000,
  inferAbove: 0.7,
  inferredShare: 0.95,
  smallestWindow: 256,
  ownersToConfirm: 2,
  largestReport: 2,
  ownersPerModel: 1_000,
};

/** Division of a window between a request and its answer. */
const windowShares = {
  /** Tokens kept free for the answer if the model does not declare its maximum output. */
  answerReserve: 4_096,
  /** The largest share of the window that is kept free for the answer. */
  largestReserve: 1 / 4,
  /** Maximum ratio of a request's actual size to its estimate. */
  estimateMargin: 1.1,
};

/** A model's window, and its maximum output. */
interface WindowSize {
  readonly contextWindow: number;
  readonly maxOutputTokens?: number;
}

/** Returns the tokens that a request to the model may have. */
export function requestBudget(model: WindowSize): number {
  return Math.max(1, model.contextWindow - reserveOf(model));
}

/**
 * Returns the tokens that the answer to a request may have: the model's maximum output, as long as both fit in the
 * window. Providers refuse a request for more. Undefined if the model does not declare a maximum.
 */
export function answerBudget(model: WindowSize, requestTokens: number): number | undefined {
  const { maxOutputTokens, contextWindow } = model;
  if (maxOutputTokens === undefined) return undefined;
  const left = contextWindow - Math.ceil(requestTokens * windowShares.estimateMargin);
  return Math.max(1, Math.min(maxOutputTokens, Math.max(left, reserveOf(model))));
}

function reserveOf({ maxOutputTokens = windowShares.answerReserve, contextWindow }: WindowSize): number {
  return Math.min(maxOutputTokens, Math.floor(contextWindow * windowShares.largestReserve));
}

/** A limit that was learned. */
interface Limit {
  readonly tokens: number;
  /** Monotonic. */
  readonly learnedAt: number;
  readonly isNamed: boolean;
}

/** Everything that is known about one model. */
interface ModelObservations {
  readonly byOwner: Map<string, Limit>;
  confirmed: Limit | undefined;
  /** The largest successes of the current and of the previous period, each `memoryMs` long. */
  period: number;
  largest: number;
  largestBefore: number;
}

/**
 * Creates the default policy. It learns only from the provider's own answers:
 *
 * - A limit that the provider names in tokens holds immediately for the owner whose request was refused, and for
 *   everyone after the same limit was named to a second owner.
 * - An overflow without a named limit counts only if the request had more than 70 % of the declared window, and only
 *   for its owner.
 * - The window is never below the largest request that succeeded, for any owner; a success above a learned limit
 *   removes the limit.
 * - Every observation expires after an hour.
 *
 * The observations are kept in this process and are lost with it.
 */
export function createWindowPolicy(
  options: { readonly clock: Pick<Clock, "monotonic"> } & { readonly rules?: Partial<WindowRules> },
): WindowPolicy {
  return new LearningWindowPolicy(options.clock, { ...defaultWindowRules, ...options.rules });
}

class LearningWindowPolicy implements WindowPolicy {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #rules: WindowRules;
  readonly #models = new Map<string, ModelObservations>();

  constructor(clock: Pick<Clock, "monotonic">, rules: WindowRules) {
    this.#clock = clock;
    this.#rules = rules;
  }

  windowFor({ owner, model, declaredWindow }: WindowUse): number {
    const known = this.#models.get(model);
    if (known === undefined) return declaredWindow;
    const own = this.#live(known.byOwner.get(owner))?.tokens ?? declaredWindow;
    const confirmed = this.#live(known.confirmed)?.tokens ?? declaredWindow;
    return Math.min(declaredWindow, Math.max(Math.min(own, confirmed), this.#largestSuccess(known)));
  }

  succeeded(use: WindowUse, { estimatedTokens, reportedTokens }: FittingRequest): WindowChange | undefined {
    if (!isAmount(estimatedTokens)) return undefined;
    const reported = isAmount(reportedTokens) ? reportedTokens : estimatedTokens;
    const tokens = Math.floor(Math.min(reported, estimatedTokens * this.#rules.largestReport));
    const from = this.windowFor(use);
    const known = this.#observations(use.model);
    this.#turnPeriod(known);
    known.largest = Math.max(known.largest, tokens);
    const isDisproved = (limit: Limit | undefined) => limit !== undefined && limit.tokens < tokens;
    const forEveryone = isDisproved(this.#live(known.confirmed));
    if (isDisproved(known.confirmed)) known.confirmed = undefined;
    for (const [owner, limit] of known.byOwner) if (isDisproved(limit)) known.byOwner.delete(owner);
    return this.#change(use, from, "disproved", forEveryone);
  }

  overflowed(use: WindowUse, { estimatedTokens, namedWindow }: OverflowingRequest): WindowChange | undefined {
    const { declaredWindow, owner, model } = use;
    const { inferAbove, inferredShare, smallestWindow, ownersPerModel } = this.#rules;
    const isNamed =
      namedWindow !== undefined && Number.isSafeInteger(namedWindow) && namedWindow >= smallestWindow;
    if (!isNamed && !(estimatedTokens > declaredWindow * inferAbove)) return undefined;
    const tokens = isNamed ? namedWindow : Math.floor(estimatedTokens * inferredShare);
    // Beyond the declared window there is nothing to learn.
    if (tokens >= declaredWindow) return undefined;
    const from = this.windowFor(use);
    const known = this.#observations(model);
    known.byOwner.delete(owner);
    known.byOwner.set(owner, { tokens, isNamed, learnedAt: this.#clock.monotonic() });
    for (const oldest of known.byOwner.keys()) {
      if (known.byOwner.size <= ownersPerModel) break;
      known.byOwner.delete(oldest);
    }
    const isConfirmed = isNamed && this.#confirm(known, tokens);
    return this.#change(use, from, isNamed ? "named" : "inferred", isConfirmed);
  }

  /** Makes a named limit hold for everyone if enough owners were given the same one. */
  #confirm(known: ModelObservations, tokens: number): boolean {
    let owners = 0;
    for (const limit of known.byOwner.values()) {
      if (limit.isNamed && limit.tokens === tokens && this.#live(limit) !== undefined) owners += 1;
    }
    if (owners < this.#rules.ownersToConfirm) return false;
    known.confirmed = { tokens, isNamed: true, learnedAt: this.#clock.monotonic() };
    return true;
  }

  #change(
    use: WindowUse,
    from: number,
    source: WindowChange["source"],
    forEveryone: boolean,
  ): WindowChange | undefined {
    const { model, owner } = use;
    const to = this.windowFor(use);
    if (to === from && !(forEveryone && source === "named")) return undefined;
    return { model, owner, scope: forEveryone ? "everyone" : "owner", from, to, source };
  }

  #live(limit: Limit | undefined): Limit | undefined {
    if (limit === undefined) return undefined;
    return this.#clock.monotonic() - limit.learnedAt < this.#rules.memoryMs ? limit : undefined;
  }

  #largestSuccess(known: ModelObservations): number {
    this.#turnPeriod(known);
    return Math.max(known.largest, known.largestBefore);
  }

  /**
   * Starts the next period if it is due. Two periods replace all successes with their times: each counts for
   * `memoryMs` at least, twice that at most.
   */
  #turnPeriod(known: ModelObservations): void {
    const period = Math.floor(this.#clock.monotonic() / this.#rules.memoryMs);
    if (period === known.period) return;
    known.largestBefore = period === known.period + 1 ? known.largest : 0;
    known.largest = 0;
    known.period = period;
  }

  #observations(model: string): ModelObservations {
    let known = this.#models.get(model);
    if (known === undefined) {
      known = { byOwner: new Map(), confirmed: undefined, period: 0, largest: 0, largestBefore: 0 };
      this.#models.set(model, known);
    }
    return known;
  }
}

function isAmount(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value) && value > 0;
}
