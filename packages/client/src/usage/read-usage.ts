import type { UsageQuery, UsageResponse } from "@parley/wire";
import type { ParleyClient } from "../client.js";

/**
 * Reads tokens and cost, summed over days in UTC: of the key's owner, or of others with the scope `admin`. Calls of
 * unknown cost are not in the sums, which include their number.
 */
export function readUsage(
  client: Pick<ParleyClient, "request">,
  query: UsageQuery = {},
  options: { readonly signal?: AbortSignal } = {},
): Promise<UsageResponse> {
  return client.request("GET /usage", { query, ...options });
}
