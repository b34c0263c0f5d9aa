import type { ApiKeyRecord } from "@parley/core/ports";
import type { KeyScope } from "@parley/wire";
import { originalText } from "../stored-text.js";

/** The columns of a key, of the table `k`. */
export const keyColumns = `k.id, k.owner, k.hash, k.prefix, array_to_json(k.scopes)::text AS scopes,
  date_part('epoch', k.created_at) * 1000 AS created_ms, date_part('epoch', k.last_used_at) * 1000 AS used_ms`;

/** Returns the key that a row holds. */
export function keyOf(row: Record<string, unknown>): ApiKeyRecord {
  return {
    id: originalText(String(row.id)),
    owner: originalText(String(row.owner)),
    hash: originalText(String(row.hash)),
    prefix: originalText(String(row.prefix)),
    scopes: JSON.parse(String(row.scopes)) as KeyScope[],
    createdAt: Math.round(Number(row.created_ms)),
    ...(row.used_ms === null ? {} : { lastUsedAt: Math.round(Number(row.used_ms)) }),
  };
}
