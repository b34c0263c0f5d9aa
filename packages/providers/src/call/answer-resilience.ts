import type { AnswerLimits } from "@parley/core/ports";
import type { ResilienceProfile } from "@parley/http";

/** How long a server may be silent where the caller does not say: a model may think for minutes before it speaks. */
const silenceMs = 600_000;

/** By how much a caller that watches for content is ahead of the client, which only knows bytes. */
const marginMs = 5_000;

/** How an adapter's own client calls a server that answers with a stream. */
export const answerResilience: ResilienceProfile = {
  maxAttempts: 3,
  perAttemptTimeoutMs: silenceMs,
  stallTimeoutMs: silenceMs,
};

/** The same for one call: a caller with bounds of its own is the one who decides how long to wait. */
export function resilienceFor(limits: AnswerLimits | undefined): { resilience?: ResilienceProfile } {
  if (limits === undefined) return {};
  const waitMs = Math.max(limits.firstContentMs, limits.betweenContentMs) + marginMs;
  return { resilience: { perAttemptTimeoutMs: waitMs, stallTimeoutMs: waitMs } };
}
