import type { ApiKeyRecord, KeyStore, KeysInUse } from "@parley/core/ports";
import type { StoreContext } from "../store-context.js";
import { originalText, storedText } from "../stored-text.js";
import { keyColumns, keyOf } from "./key-row.js";
import { addLogin, findLogin, removeLogins, touchLogin } from "./logins.js";
import { invalid } from "./refusals.js";

/** Stores keys. They are few and looked up by their hash, which has an index. */
export function keyStore(store: StoreContext): KeyStore {
  return {
    add: (key) => addKey(store, key),
    list: () => listKeys(store),
    find: (hash) => findKey(store, hash),
    findGone: (query) => findGone(store, query),
    touch: (id, at) => touchKey(store, id, at),
    remove: (id) => removeKey(store, id),
    addLogin: (login) => addLogin(store, login),
    findLogin: (hash, at) => findLogin(store, hash, at),
    touchLogin: (id, marks) => touchLogin(store, id, marks),
    removeLogins: (query) => removeLogins(store, query),
  };
}

/**
 * Adds a key. The same key again finds its own row; another one with its id or hash finds a row that is not its own.
 */
async function addKey(store: StoreContext, key: ApiKeyRecord): Promise<void> {
  const { id, hash } = key;
  const [made] = await store.database.query({
    text: `INSERT INTO parley.api_key (id, owner, hash, prefix, scopes, created_at, last_used_at)
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
    text: `SELECT ${keyColumns} FROM parley.api_key k ORDER BY created_at, id`,
  });
  return rows.map(keyOf);
}

async function findKey(store: StoreContext, hash: string): Promise<ApiKeyRecord | null> {
  const [row] = await store.database.query({
    name: "find_key",
    text: `SELECT ${keyColumns} FROM parley.api_key k WHERE hash = $1`,
    values: [storedText(hash)],
  });
  return row === undefined ? null : keyOf(row);
}

/** Lists as they are sent. A server passes the same lists again and again, for thousands of connections. */
const sentLists = new WeakMap<readonly string[], string>();

function sentList(hashes: readonly string[]): string {
  const sent = sentLists.get(hashes) ?? JSON.stringify(hashes.map(storedText));
  sentLists.set(hashes, sent);
  return sent;
}

/** Finds keys that are gone, by one statement for any number. It usually returns nothing. */
async function findGone(store: StoreContext, query: KeysInUse & { readonly at: number }): Promise<KeysInUse> {
  const rows = await store.database.query({
    name: "find_gone_keys",
    text: `SELECT 'key' AS kind, hash FROM json_array_elements_text($1::json) AS given(hash)
      WHERE NOT EXISTS (SELECT 1 FROM parley.api_key k WHERE k.hash = given.hash)
      UNION ALL
      SELECT 'login' AS kind, hash FROM json_array_elements_text($2::json) AS given(hash)
      WHERE NOT EXISTS (SELECT 1 FROM parley.login l WHERE l.hash = given.hash AND l.expires_at > $3::timestamptz)`,
    values: [sentList(query.keys), sentList(query.logins), new Date(query.at).toISOString()],
  });
  const gone = (kind: string) =>
    rows.flatMap((row) => (row.kind === kind ? [originalText(String(row.hash))] : []));
  return { keys: gone("key"), logins: gone("login") };
}

async function touchKey(store: StoreContext, id: string, at: number): Promise<void> {
  await store.database.query({
    name: "touch_key",
    text: `UPDATE parley.api_key SET last_used_at = $2::timestamptz
      WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2::timestamptz)`,
    values: [storedText(id), new Date(at).toISOString()],
  });
}

async function removeKey(store: StoreContext, id: string): Promise<boolean> {
  const rows = await store.database.query({
    text: "DELETE FROM parley.api_key WHERE id = $1 RETURNING 1 AS removed",
    values: [storedText(id)],
  });
  return rows.length > 0;
}
