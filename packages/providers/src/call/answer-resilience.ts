import type { AnswerLimits } from "@parley/core/ports";
import type { ResilienceProfile } from "@parley/http";

/** Default limit for a server's silence: a model may think for minutes before it answers. */
const silenceMs = 600_000;

/** Margin by which the caller's content timeouts fire before the client's, which only counts bytes. */
const marginMs = 5_000;

/** Resilience of an adapter's own client for servers that stream their answers. */
export const answerResilience: ResilienceProfile = {
  maxAttempts: 3,
  perAttemptTimeoutMs: silenceMs,
  stallTimeoutMs: silenceMs,
};

/** Returns the resilience for one call: a caller with its own limits decides how long to wait. */
export function resilienceFor(limits: AnswerLimits | undefined): { resilience?: ResilienceProfile } {
  if (limits === undefined) return {};
  const waitMs = Math.max(limits.firstContentMs, limits.betweenContentMs) + marginMs;
  return { resilience: { perAttemptTimeoutMs: waitMs, stallTimeoutMs: waitMs } };
}
