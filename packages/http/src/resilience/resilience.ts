/** Retries and timeouts of a request. Each omitted field takes the value of the next wider profile. */
export interface ResilienceProfile {
  /** Total number of attempts, including the first one. Default 1. */
  maxAttempts?: number;
  /** False turns retries off. Default: true if `maxAttempts` is above 1. */
  retryEnabled?: boolean;
  /**
   * Time limit for one attempt. It covers everything up to the whole body for `requestJson`, `requestText`
   * and `requestArrayBuffer`, and up to the headers for `requestRaw`, whose body may be a long stream.
   */
  perAttemptTimeoutMs?: number;
  /** Time limit for the whole request: all attempts, the waits between them and the body to its end. */
  overallTimeoutMs?: number;
  /**
   * The longest silence allowed while a body is being read. Time that the reader itself takes is not counted.
   */
  stallTimeoutMs?: number;
  /** The wait before the first retry; it doubles with each further one. Default 250. */
  baseBackoffMs?: number;
  /** Maximum wait, even if the server asks for a longer one. Default 60 000. */
  maxBackoffMs?: number;
  /** A backoff is multiplied by a random factor of this range. Default [0.8, 1.2]. */
  jitterFactorRange?: readonly [number, number];
  /** The older name of `overallTimeoutMs`, which wins if both are given. */
  maxEndToEndLatencyMs?: number;
}

/** The older way to bound a request. It is merged into the profile and overrides it. */
export interface RequestBudget {
  maxAttempts?: number;
  maxTotalDurationMs?: number;
}

/** A profile with every default filled in; absent timeouts are `Infinity`. */
export interface EffectiveResilience {
  readonly maxAttempts: number;
  readonly perAttemptTimeoutMs: number;
  readonly overallTimeoutMs: number;
  readonly stallTimeoutMs: number;
  readonly baseBackoffMs: number;
  readonly maxBackoffMs: number;
  readonly jitterFactorRange: readonly [number, number];
}

/** Merges profiles from the widest to the narrowest, then the legacy budget, and fills in the defaults. */
export function resolveResilience(
  profiles: readonly (ResilienceProfile | undefined)[],
  budget?: RequestBudget,
): EffectiveResilience {
  let merged: ResilienceProfile = {};
  for (const profile of profiles) {
    if (profile === undefined) continue;
    merged = overlay(merged, profile);
    // Each layer's legacy name is translated in its own layer, so that a narrow profile's old name still
    // wins over a wide profile's new one.
    const overall = profile.overallTimeoutMs ?? profile.maxEndToEndLatencyMs;
    if (overall !== undefined) merged.overallTimeoutMs = overall;
  }
  if (budget?.maxAttempts !== undefined) merged.maxAttempts = budget.maxAttempts;
  if (budget?.maxTotalDurationMs !== undefined) merged.overallTimeoutMs = budget.maxTotalDurationMs;

  const attempts = Math.max(1, Math.floor(finite(merged.maxAttempts, 1)));
  return {
    maxAttempts: merged.retryEnabled === false ? 1 : attempts,
    perAttemptTimeoutMs: limit(merged.perAttemptTimeoutMs),
    overallTimeoutMs: limit(merged.overallTimeoutMs),
    stallTimeoutMs: limit(merged.stallTimeoutMs),
    baseBackoffMs: Math.max(0, finite(merged.baseBackoffMs, 250)),
    maxBackoffMs: Math.max(0, finite(merged.maxBackoffMs, 60_000)),
    jitterFactorRange: merged.jitterFactorRange ?? [0.8, 1.2],
  };
}

function overlay(wide: ResilienceProfile, narrow: ResilienceProfile): ResilienceProfile {
  const merged: Record<string, unknown> = { ...wide };
  for (const [name, value] of Object.entries(narrow)) {
    if (value !== undefined) merged[name] = value;
  }
  return merged;
}

function limit(timeoutMs: number | undefined): number {
  return timeoutMs === undefined || Number.isNaN(timeoutMs)
    ? Number.POSITIVE_INFINITY
    : Math.max(0, timeoutMs);
}

function finite(value: number | undefined, fallback: number): number {
  return value === undefined || Number.isNaN(value) ? fallback : value;
}
