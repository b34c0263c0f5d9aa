import type { EffectiveResilience } from "./resilience.js";

/**
 * Returns the wait before the attempt after `attempt` (1 for the first): exponential with jitter, or what the
 * server asked for. Never negative, never above the profile's cap.
 */
export function backoffDelayMs(
  attempt: number,
  profile: Pick<EffectiveResilience, "baseBackoffMs" | "maxBackoffMs" | "jitterFactorRange">,
  random: () => number,
  askedForMs?: number,
): number {
  const cap = profile.maxBackoffMs;
  if (askedForMs !== undefined && askedForMs >= 0) return Math.min(askedForMs, cap);

  const [low, high] = profile.jitterFactorRange;
  const factor = low + random() * (high - low);
  // The exponent is bounded so that a zero base times an overflowed power cannot become NaN.
  const exponential = profile.baseBackoffMs * 2 ** Math.min(Math.max(attempt, 1) - 1, 60);
  return Math.max(0, Math.min(exponential * factor, cap));
}
