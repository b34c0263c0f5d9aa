import type { ApiKeyRecord, LoginQuery, LoginRecord } from "@parley/core/ports";
import type { StoreContext } from "../store-context.js";
import { originalText, storedText } from "../stored-text.js";
import { keyColumns, keyOf } from "./key-row.js";
import { invalid } from "./refusals.js";

/**
 * Adds a login. The same login again finds its own row. The key is locked, so that it cannot be removed in between
 * without its login.
 */
export async function addLogin(store: StoreContext, login: LoginRecord): Promise<void> {
  const { id, keyId, hash } = login;
  const [made] = await store.database.query({
    text: `INSERT INTO parley.login (id, key_id, owner, hash, created_at, last_used_at, expires_at)
      SELECT $1, k.id, $3, $4, $5::timestamptz, $6::timestamptz, $7::timestamptz
      FROM parley.api_key k WHERE k.id = $2 FOR KEY SHARE ON CONFLICT DO NOTHING RETURNING 1 AS made`,
    values: [
      storedText(id),
      storedText(keyId),
      storedText(login.owner),
      storedText(hash),
      moment(login.createdAt),
      moment(login.lastUsedAt),
      moment(login.expiresAt),
    ],
  });
  if (made !== undefined) return;
  const [known] = await store.database.query({
    text: "SELECT 1 AS known FROM parley.login WHERE id = $1 AND hash = $2",
    values: [storedText(id), storedText(hash)],
  });
  if (known === undefined) {
    throw invalid("There is no key for this login, or its id or hash is used by another one", { id });
  }
}

export async function findLogin(
  store: StoreContext,
  hash: string,
  at: number,
): Promise<{ login: LoginRecord; key: ApiKeyRecord } | null> {
  const [row] = await store.database.query({
    name: "find_login",
    text: `SELECT ${keyColumns}, l.id AS login_id, l.owner AS login_owner, l.hash AS login_hash,
        date_part('epoch', l.created_at) * 1000 AS login_created_ms,
        date_part('epoch', l.last_used_at) * 1000 AS login_used_ms,
        date_part('epoch', l.expires_at) * 1000 AS expires_ms
      FROM parley.login l JOIN parley.api_key k ON k.id = l.key_id
      WHERE l.hash = $1 AND l.expires_at > $2::timestamptz`,
    values: [storedText(hash), moment(at)],
  });
  if (row === undefined) return null;
  const key = keyOf(row);
  return {
    key,
    login: {
      id: originalText(String(row.login_id)),
      keyId: key.id,
      owner: originalText(String(row.login_owner)),
      hash: originalText(String(row.login_hash)),
      createdAt: Math.round(Number(row.login_created_ms)),
      lastUsedAt: Math.round(Number(row.login_used_ms)),
      expiresAt: Math.round(Number(row.expires_ms)),
    },
  };
}

export async function touchLogin(
  store: StoreContext,
  id: string,
  marks: { readonly lastUsedAt: number; readonly expiresAt: number },
): Promise<void> {
  await store.database.query({
    name: "touch_login",
    text: `UPDATE parley.login SET last_used_at = greatest(last_used_at, $2::timestamptz),
        expires_at = greatest(expires_at, $3::timestamptz)
      WHERE id = $1`,
    values: [storedText(id), moment(marks.lastUsedAt), moment(marks.expiresAt)],
  });
}

export async function removeLogins(store: StoreContext, query: LoginQuery): Promise<number> {
  const { hash, keyId, expiredAt } = query;
  const rows = await store.database.query({
    text: `DELETE FROM parley.login
      WHERE ($1::text IS NULL OR hash = $1) AND ($2::text IS NULL OR key_id = $2)
        AND ($3::timestamptz IS NULL OR expires_at <= $3::timestamptz)
      RETURNING 1 AS removed`,
    values: [
      hash === undefined ? null : storedText(hash),
      keyId === undefined ? null : storedText(keyId),
      expiredAt === undefined ? null : moment(expiredAt),
    ],
  });
  return rows.length;
}

function moment(at: number): string {
  return new Date(at).toISOString();
}
