import type {
  SealedSecret,
  SecretChange,
  SecretHold,
  SecretName,
  SecretQuery,
  SecretRecord,
  SecretStore,
} from "@parley/core/ports";
import type { ResultRow } from "../database.js";
import type { StoreContext } from "../store-context.js";
import { originalJson, originalText, storedJson, storedText } from "../stored-text.js";
import { invalid } from "./refusals.js";
import { nowMs } from "./turns/head.js";

/** Stores secrets. They are few, and found by their whole name. */
export function secretStore(store: StoreContext): SecretStore {
  return {
    get: (name) => getSecret(store, name),
    list: (query) => listSecrets(store, query),
    page: (query) => pageOfSecrets(store, query),
    put: (change) => putSecret(store, change),
    remove: (name, version) => removeSecret(store, name, version),
    hold: (hold) => holdSecret(store, hold),
    release: (hold) => releaseSecret(store, hold),
  };
}

const ms = (column: string) => `date_part('epoch', ${column}) * 1000`;

const recordColumns = `owner, kind, name, facts::text AS facts, version, ${ms("created_at")} AS created_ms,
  ${ms("changed_at")} AS changed_ms`;

/** Returns the stored text of an owner: empty for the installation, which has none. */
function ownerText(owner: string | undefined): string {
  if (owner === "") throw invalid("owner: must not be empty");
  return storedText(owner ?? "");
}

function nameValues({ owner, kind, name }: SecretName): [string, string, string] {
  return [ownerText(owner), storedText(kind), storedText(name)];
}

async function getSecret(store: StoreContext, name: SecretName): Promise<SealedSecret | null> {
  const [row] = await store.database.query({
    name: "get_secret",
    text: `SELECT ${recordColumns}, sealed FROM parley.secret WHERE owner = $1 AND kind = $2 AND name = $3`,
    values: nameValues(name),
  });
  return row === undefined ? null : sealedOf(row);
}

async function listSecrets(store: StoreContext, { owner, kind }: SecretQuery): Promise<SecretRecord[]> {
  const rows = await store.database.query({
    name: "list_secrets",
    text: `SELECT ${recordColumns} FROM parley.secret WHERE owner = $1 AND kind = $2 ORDER BY name`,
    values: [ownerText(owner), storedText(kind)],
  });
  return rows.map(recordOf);
}

async function pageOfSecrets(
  store: StoreContext,
  { after, limit }: { after?: SecretName; limit: number },
): Promise<SealedSecret[]> {
  const rows = await store.database.query({
    name: "page_of_secrets",
    text: `SELECT ${recordColumns}, sealed FROM parley.secret
      WHERE $1::text IS NULL OR (owner, kind, name) > ($1::text, $2::text, $3::text)
      ORDER BY owner, kind, name LIMIT $4::int4`,
    values: [...(after === undefined ? [null, null, null] : nameValues(after)), limit],
  });
  return rows.map(sealedOf);
}

async function putSecret(store: StoreContext, change: SecretChange): Promise<string | null> {
  const { replaces, newName } = change;
  const version = store.ids.next();
  const named = nameValues(change);
  const given = [version, storedJson(change.facts), storedText(change.sealed)];
  if (replaces === null) {
    const [made] = await store.database.query({
      name: "add_secret",
      text: `INSERT INTO parley.secret (owner, kind, name, version, facts, sealed, created_at, changed_at)
        VALUES ($1, $2, $3, $4, $5::jsonb, $6, ${nowMs}, ${nowMs}) ON CONFLICT DO NOTHING RETURNING version`,
      values: [named[0], named[1], newName === undefined ? named[2] : storedText(newName), ...given],
    });
    return made === undefined ? null : version;
  }
  const inForce = [...named, storedText(replaces)];
  if (newName !== undefined && newName !== change.name) {
    return (await renameSecret(store, inForce, [storedText(newName), ...given])) ? version : null;
  }
  const [changed] = await store.database.query({
    name: "change_secret",
    text: `UPDATE parley.secret SET version = $5, facts = $6::jsonb, sealed = $7, changed_at = ${nowMs}
      WHERE owner = $1 AND kind = $2 AND name = $3 AND version = $4 RETURNING version`,
    values: [...inForce, ...given],
  });
  return changed === undefined ? null : version;
}

/** Locks the old row first, so that no transaction changes it between its copy and its removal. */
function renameSecret(
  store: StoreContext,
  inForce: readonly string[],
  given: readonly string[],
): Promise<boolean> {
  return store.database.transaction(async (connection) => {
    const [old] = await connection.query({
      name: "lock_secret",
      text: `SELECT 1 AS locked FROM parley.secret
        WHERE owner = $1 AND kind = $2 AND name = $3 AND version = $4 FOR UPDATE`,
      values: inForce,
    });
    if (old === undefined) return false;
    const [made] = await connection.query({
      name: "copy_secret",
      text: `
WITH old AS MATERIALIZED (
  SELECT owner, kind, created_at FROM parley.secret WHERE owner = $1 AND kind = $2 AND name = $3 AND version = $4
), copied AS (
  INSERT INTO parley.secret (owner, kind, name, version, facts, sealed, created_at, changed_at)
  SELECT old.owner, old.kind, $5, $6, $7::jsonb, $8, old.created_at, ${nowMs} FROM old
  ON CONFLICT DO NOTHING RETURNING version
)
SELECT version FROM copied`,
      values: [...inForce, ...given],
    });
    if (made === undefined) return false;
    await connection.query({
      name: "drop_secret",
      text: "DELETE FROM parley.secret WHERE owner = $1 AND kind = $2 AND name = $3 AND version = $4",
      values: inForce,
    });
    return true;
  });
}

async function removeSecret(store: StoreContext, name: SecretName, version?: string): Promise<boolean> {
  const rows = await store.database.query({
    name: "remove_secret",
    text: `DELETE FROM parley.secret
      WHERE owner = $1 AND kind = $2 AND name = $3 AND ($4::text IS NULL OR version = $4) RETURNING 1 AS removed`,
    values: [...nameValues(name), version === undefined ? null : storedText(version)],
  });
  return rows.length > 0;
}

/**
 * Takes a hold. Any connection can take and release one, so it works behind a transaction pooler, where a session lock
 * does not. A hold has ended if it ends earlier than the new one by the length of the new one or more: the condition of
 * an upsert calls no function of the time, so that an engine which distributes the schema accepts it.
 */
async function holdSecret(store: StoreContext, hold: SecretHold & { leaseMs: number }): Promise<number> {
  const named = nameValues(hold);
  const [held = [], left = []] = await store.database.batch([
    {
      name: "hold_secret",
      text: `INSERT INTO parley.secret_hold AS h (owner, kind, name, holder, until)
        VALUES ($1, $2, $3, $4, statement_timestamp() + $5::float8 * interval '1 millisecond')
        ON CONFLICT (owner, kind, name) DO UPDATE SET holder = excluded.holder, until = excluded.until
        WHERE h.until - excluded.until <= $5::float8 * interval '-1 millisecond' OR h.holder = excluded.holder
        RETURNING 1 AS held`,
      values: [...named, storedText(hold.holder), hold.leaseMs],
    },
    {
      name: "secret_hold_left",
      text: `SELECT date_part('epoch', until - statement_timestamp()) * 1000 AS left_ms FROM parley.secret_hold
        WHERE owner = $1 AND kind = $2 AND name = $3`,
      values: named,
    },
  ]);
  return held.length > 0 ? 0 : Math.max(1, Math.ceil(Number(left[0]?.left_ms ?? 0)));
}

async function releaseSecret(store: StoreContext, hold: SecretHold): Promise<void> {
  await store.database.query({
    name: "release_secret",
    text: "DELETE FROM parley.secret_hold WHERE owner = $1 AND kind = $2 AND name = $3 AND holder = $4",
    values: [...nameValues(hold), storedText(hold.holder)],
  });
}

function recordOf(row: ResultRow): SecretRecord {
  const owner = originalText(String(row.owner));
  return {
    ...(owner === "" ? {} : { owner }),
    kind: originalText(String(row.kind)),
    name: originalText(String(row.name)),
    facts: originalJson(String(row.facts)) as Record<string, unknown>,
    version: originalText(String(row.version)),
    createdAt: Math.round(Number(row.created_ms)),
    changedAt: Math.round(Number(row.changed_ms)),
  };
}

function sealedOf(row: ResultRow): SealedSecret {
  return { ...recordOf(row), sealed: originalText(String(row.sealed)) };
}
