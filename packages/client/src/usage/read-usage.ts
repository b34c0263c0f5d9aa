import type { UsageQuery, UsageResponse } from "@parley/wire";
import type { ParleyClient } from "../client.js";

/**
 * Reads tokens and cost, summed over days in UTC: of the key's owner, or of others with the scope `admin`. Costs of
 * unknown calls are not in the sums, which say how many there are.
 */
export function readUsage(
  client: Pick<ParleyClient, "request">,
  query: UsageQuery = {},
  options: { readonly signal?: AbortSignal } = {},
): Promise<UsageResponse> {
  return client.request("GET /usage", { query, ...options });
}
