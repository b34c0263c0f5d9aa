import type { ApiKeyRecord } from "../../key-store.js";
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

export function touchKey(db: MemoryDatabase, id: string, at: number): void {
  const key = db.keys.get(id);
  if (key !== undefined) key.lastUsedAt = Math.max(at, key.lastUsedAt ?? at);
}

export function removeKey(db: MemoryDatabase, id: string): boolean {
  return db.keys.delete(id);
}
