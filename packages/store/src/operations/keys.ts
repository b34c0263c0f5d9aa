import type { ApiKeyRecord, KeyStore } from "@parley/core/ports";
import type { KeyScope } from "@parley/wire";
import type { StoreContext } from "../store-context.js";
import { originalText, storedText } from "../stored-text.js";
import { invalid } from "./refusals.js";

/** Keys are few and asked for by their hash, which has an index. */
export function keyStore(store: StoreContext): KeyStore {
  return {
    add: (key) => addKey(store, key),
    list: () => listKeys(store),
    find: (hash) => findKey(store, hash),
    touch: (id, at) => touchKey(store, id, at),
    remove: (id) => removeKey(store, id),
  };
}

const keyColumns = `id, owner, hash, prefix, array_to_json(scopes)::text AS scopes,
  date_part('epoch', created_at) * 1000 AS created_ms, date_part('epoch', last_used_at) * 1000 AS used_ms`;

function keyOf(row: Record<string, unknown>): ApiKeyRecord {
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

/** The same key again meets its own row; another one with its id or hash meets a row that is not its own. */
async function addKey(store: StoreContext, key: ApiKeyRecord): Promise<void> {
  const { id, hash } = key;
  const [made] = await store.database.query({
    text: `INSERT INTO api_key (id, owner, hash, prefix, scopes, created_at, last_used_at)
      VALUES ($1, $2, $3, $4, $5::text[], $6::timestamptz, $7::timestamptz) ON CONFLICT DO NOTHING RETURNING 1 AS made`,
    values: [
      storedText(id),
      storedText(key.owner),
      storedText(hash),
      storedText(key.prefix),
      key.scopes,
      new Date(key.createdAt).toISOString(),
      key.lastUsedAt === undefined ? null : new Date(key.lastUsedAt).toISOString(),
    ],
  });
  if (made !== undefined) return;
  const known = await findKey(store, hash);
  if (known?.id !== id) throw invalid("The id or the hash of this key is used by another one", { id });
}

async function listKeys(store: StoreContext): Promise<ApiKeyRecord[]> {
  const rows = await store.database.query({
    name: "list_keys",
    text: `SELECT ${keyColumns} FROM api_key ORDER BY created_at, id`,
  });
  return rows.map(keyOf);
}

async function findKey(store: StoreContext, hash: string): Promise<ApiKeyRecord | null> {
  const [row] = await store.database.query({
    name: "find_key",
    text: `SELECT ${keyColumns} FROM api_key WHERE hash = $1`,
    values: [storedText(hash)],
  });
  return row === undefined ? null : keyOf(row);
}

async function touchKey(store: StoreContext, id: string, at: number): Promise<void> {
  await store.database.query({
    name: "touch_key",
    text: `UPDATE api_key SET last_used_at = $2::timestamptz
      WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2::timestamptz)`,
    values: [storedText(id), new Date(at).toISOString()],
  });
}

async function removeKey(store: StoreContext, id: string): Promise<boolean> {
  const rows = await store.database.query({
    text: "DELETE FROM api_key WHERE id = $1 RETURNING 1 AS removed",
    values: [storedText(id)],
  });
  return rows.length > 0;
}
