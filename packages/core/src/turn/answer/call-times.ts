import type { ProviderCallRecord, ProviderCallResult } from "../../ports.js";

/**
 * The times that are kept of a call. The answer's own counts, except where an adapter gives none or one that no store
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
