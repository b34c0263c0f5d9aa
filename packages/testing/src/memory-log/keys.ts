import type { ApiKeyRecord, KeysInUse, LoginQuery, LoginRecord } from "@parley/core/ports";
import { invalid, type MemoryDatabase } from "./database.js";

export function addKey(db: MemoryDatabase, key: ApiKeyRecord): void {
  const { id, hash } = key;
  for (const known of db.keys.values()) {
    if (known.id !== id && known.hash !== hash) continue;
    if (known.id === id && known.hash === hash) return;
    throw invalid("The id or the hash of this key is used by another one", { id });
  }
  db.keys.set(id, key);
}

export function listKeys(db: MemoryDatabase): ApiKeyRecord[] {
  return [...db.keys.values()].sort(
    (left, right) => left.createdAt - right.createdAt || (left.id < right.id ? -1 : 1),
  );
}

export function findKey(db: MemoryDatabase, hash: string): ApiKeyRecord | null {
  for (const key of db.keys.values()) if (key.hash === hash) return key;
  return null;
}

export function findGone(db: MemoryDatabase, query: KeysInUse & { at: number }): KeysInUse {
  return {
    keys: query.keys.filter((hash) => findKey(db, hash) === null),
    logins: query.logins.filter((hash) => findLogin(db, hash, query.at) === null),
  };
}

export function touchKey(db: MemoryDatabase, id: string, at: number): void {
  const key = db.keys.get(id);
  if (key !== undefined) key.lastUsedAt = Math.max(at, key.lastUsedAt ?? at);
}

export function removeKey(db: MemoryDatabase, id: string): boolean {
  removeLogins(db, { keyId: id });
  return db.keys.delete(id);
}

export function addLogin(db: MemoryDatabase, login: LoginRecord): void {
  const { id, hash, keyId } = login;
  if (!db.keys.has(keyId)) throw invalid("There is no key for this login", { keyId });
  for (const known of db.logins.values()) {
    if (known.id !== id && known.hash !== hash) continue;
    if (known.id === id && known.hash === hash) return;
    throw invalid("The id or the hash of this login is used by another one", { id });
  }
  db.logins.set(id, login);
}

export function findLogin(
  db: MemoryDatabase,
  hash: string,
  at: number,
): { login: LoginRecord; key: ApiKeyRecord } | null {
  for (const login of db.logins.values()) {
    if (login.hash !== hash || login.expiresAt <= at) continue;
    const key = db.keys.get(login.keyId);
    if (key !== undefined) return { login, key };
  }
  return null;
}

export function touchLogin(
  db: MemoryDatabase,
  id: string,
  marks: { lastUsedAt: number; expiresAt: number },
): void {
  const login = db.logins.get(id);
  if (login === undefined) return;
  login.lastUsedAt = Math.max(login.lastUsedAt, marks.lastUsedAt);
  login.expiresAt = Math.max(login.expiresAt, marks.expiresAt);
}

export function removeLogins(db: MemoryDatabase, { hash, keyId, expiredAt }: LoginQuery): number {
  let removed = 0;
  for (const login of [...db.logins.values()]) {
    if (hash !== undefined && login.hash !== hash) continue;
    if (keyId !== undefined && login.keyId !== keyId) continue;
    if (expiredAt !== undefined && login.expiresAt > expiredAt) continue;
    db.logins.delete(login.id);
    removed += 1;
  }
  return removed;
}
