import type { ProviderCallRecord, ProviderCallResult } from "../../ports.js";

/**
 * Returns the times of a call that are stored: the answer's own, unless an adapter gives none or one that no store
 * can keep.
 */
export function callTimes(
  startedAt: Date,
  result: Pick<ProviderCallResult, "createdAt"> | undefined,
): Pick<ProviderCallRecord, "createdAt" | "startedAt"> {
  const answeredAt: unknown = result?.createdAt;
  const isDate = answeredAt instanceof Date && !Number.isNaN(answeredAt.getTime());
  return { createdAt: isDate ? answeredAt : startedAt, startedAt };
}
