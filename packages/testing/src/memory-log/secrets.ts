import type {
  SealedSecret,
  SecretChange,
  SecretHold,
  SecretName,
  SecretQuery,
  SecretRecord,
} from "@parley/core/ports";
import { invalid, type MemoryDatabase } from "./database.js";

const keyOf = ({ owner, kind, name }: SecretName) => {
  if (owner === "") throw invalid("owner: must not be empty");
  return JSON.stringify([owner ?? "", kind, name]);
};

export function getSecret(db: MemoryDatabase, name: SecretName): SealedSecret | null {
  return db.secrets.get(keyOf(name)) ?? null;
}

export function listSecrets(db: MemoryDatabase, { owner, kind }: SecretQuery): SecretRecord[] {
  return ordered(db)
    .filter((secret) => secret.owner === owner && secret.kind === kind)
    .map(({ sealed: _, ...record }) => record);
}

export function pageOfSecrets(
  db: MemoryDatabase,
  { after, limit }: { after?: SecretName; limit: number },
): SealedSecret[] {
  return ordered(db)
    .filter((secret) => after === undefined || compare(secret, after) > 0)
    .slice(0, limit);
}

export function putSecret(db: MemoryDatabase, change: SecretChange, version: string): string | null {
  const { owner, kind, sealed, facts, replaces, newName = change.name } = change;
  const name = { ...(owner === undefined ? {} : { owner }), kind, name: newName };
  const known = db.secrets.get(keyOf(replaces === null ? name : change));
  if ((known?.version ?? null) !== replaces) return null;
  if (newName !== change.name && db.secrets.has(keyOf(name))) return null;
  const now = db.clock.now();
  if (replaces !== null) db.secrets.delete(keyOf(change));
  db.secrets.set(keyOf(name), {
    ...name,
    facts,
    version,
    createdAt: known?.createdAt ?? now,
    changedAt: now,
    sealed,
  });
  return version;
}

export function removeSecret(db: MemoryDatabase, name: SecretName, version?: string): boolean {
  const known = db.secrets.get(keyOf(name));
  if (known === undefined || (version !== undefined && known.version !== version)) return false;
  return db.secrets.delete(keyOf(name));
}

export function holdSecret(db: MemoryDatabase, hold: SecretHold & { leaseMs: number }): number {
  const now = db.clock.now();
  const held = db.secretHolds.get(keyOf(hold));
  if (held !== undefined && held.until > now && held.holder !== hold.holder) return held.until - now;
  db.secretHolds.set(keyOf(hold), { holder: hold.holder, until: now + hold.leaseMs });
  return 0;
}

export function releaseSecret(db: MemoryDatabase, hold: SecretHold): void {
  if (db.secretHolds.get(keyOf(hold))?.holder === hold.holder) db.secretHolds.delete(keyOf(hold));
}

function ordered(db: MemoryDatabase): SealedSecret[] {
  return [...db.secrets.values()].sort(compare);
}

function compare(left: SecretName, right: SecretName): number {
  for (const part of ["owner", "kind", "name"] as const) {
    const [a = "", b = ""] = [left[part], right[part]];
    if (a !== b) return a < b ? -1 : 1;
  }
  return 0;
}
