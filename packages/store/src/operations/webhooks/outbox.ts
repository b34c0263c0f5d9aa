import type {
  ClaimedDelivery,
  ClaimQuery,
  ClaimResult,
  DeliveryClaim,
  DeliveryOutcome,
  OutboxStore,
} from "@parley/core/ports";
import { ownerIsHere } from "../../shards/guard-owners.js";
import { forOwners, type StoreContext } from "../../store-context.js";
import { originalJson, originalText, storedText } from "../../stored-text.js";
import { returnedMs } from "../turns/head.js";
import { disabledStatement, giveUpStatement } from "./endpoints.js";
import { positionOf, readPosition } from "./webhook-row.js";

/** Creates the outbox of all owners. */
export function outboxStore(store: StoreContext): OutboxStore {
  return {
    claim: (query) => claim(store, query),
    settle: (claimed, outcome) => settle(store, claimed, outcome),
    owners: () => owners(store),
    sweep: (limit) => sweep(store, limit),
  };
}

/** Due rows of one endpoint that a claim reads: all but one of them may have to wait for others. */
const lookedAt = 100;

/**
 * Selects endpoints with something pending, one by one: each is a lookup in `outbox_due`, however much is pending for
 * the one before. So an endpoint with a long backlog costs the others nothing. One scan over all due rows would have to
 * read past it.
 */
const endpoints = `RECURSIVE endpoint AS (
  (SELECT owner, webhook FROM parley.outbox WHERE state = 'pending' ORDER BY owner, webhook LIMIT 1)
  UNION ALL
  SELECT n.owner, n.webhook FROM endpoint e CROSS JOIN LATERAL (
    SELECT o.owner, o.webhook FROM parley.outbox o
    WHERE o.state = 'pending' AND (o.owner, o.webhook) > (e.owner, e.webhook) ORDER BY o.owner, o.webhook LIMIT 1
  ) n
)`;

/** Selects the endpoint of `e` by its key; without this form, the planner reads all endpoints at once. */
const enabledWebhook = (isShard: boolean) => `CROSS JOIN LATERAL (
    SELECT url, secret, failures FROM parley.webhook WHERE owner = e.owner AND id = e.webhook AND enabled
      ${isShard ? `AND ${ownerIsHere("e.owner")}` : ""} OFFSET 0
  ) w`;

/**
 * Selects from each endpoint the longest due row that is first in its conversation. A due row behind another one is
 * postponed until that one is due, or its claim ends: so a failing delivery does not leave a queue behind it that every
 * claim reads again. Settling a row makes the next one due.
 *
 * Rows are locked at the end, after the snapshot is read; a row that was claimed meanwhile is no longer due, and is
 * left out when its new version is checked.
 */
const claimText = (isShard: boolean) => `
WITH ${endpoints}, due AS (
  SELECT o.owner, o.webhook, o.number, o.place, o.log, o.due_at, f.due_at AS first_due_at,
    (f.number, f.place) = (o.number, o.place) AS is_first, w.url, w.secret, w.failures
  FROM endpoint e
  ${enabledWebhook(isShard)}
  CROSS JOIN LATERAL (
    SELECT * FROM parley.outbox o
    WHERE o.owner = e.owner AND o.webhook = e.webhook AND o.state = 'pending' AND o.due_at <= statement_timestamp()
    ORDER BY o.due_at LIMIT ${lookedAt}
  ) o
  CROSS JOIN LATERAL (
    SELECT f.number, f.place, f.due_at FROM parley.outbox f
    WHERE f.log = o.log AND f.webhook = o.webhook AND f.state = 'pending' AND f.owner = o.owner
    ORDER BY f.number, f.place LIMIT 1
  ) f
  WHERE (w.failures = 0 OR NOT $5::bool) AND NOT EXISTS (SELECT FROM unnest($3::text[], $4::text[]) AS x(owner, webhook)
    WHERE x.owner = e.owner AND x.webhook = e.webhook)
), chosen AS (
  SELECT DISTINCT ON (owner, webhook) * FROM due WHERE is_first
  ORDER BY owner, webhook, due_at, number, place
), locked AS (
  SELECT o.owner, o.webhook, o.number, o.place, c.url, c.secret, c.failures FROM chosen c
  JOIN parley.outbox o ON o.owner = c.owner AND o.webhook = c.webhook AND o.number = c.number AND o.place = c.place
  WHERE o.state = 'pending' AND o.due_at <= statement_timestamp()
  ORDER BY c.due_at LIMIT $1::int4 FOR UPDATE OF o SKIP LOCKED
), put_off AS (
  UPDATE parley.outbox o SET due_at = due.first_due_at FROM due
  WHERE o.owner = due.owner AND o.webhook = due.webhook AND o.number = due.number AND o.place = due.place
    AND NOT due.is_first AND due.first_due_at > statement_timestamp() AND o.state = 'pending' AND o.attempts = 0
  RETURNING 1 AS done
), claimed AS (
  UPDATE parley.outbox o SET due_at = statement_timestamp() + $2::float8 * interval '1 millisecond',
    attempts = o.attempts + 1, fence = o.fence + 1, attempted_at = statement_timestamp()
  FROM locked l
  WHERE o.owner = l.owner AND o.webhook = l.webhook AND o.number = l.number AND o.place = l.place
  RETURNING o.owner, o.webhook, o.number::float8 AS number, o.place, o.id, o.type, o.data::text AS data, o.fence,
    o.attempts, ${returnedMs("o.created_at")} AS created_ms, l.url, l.secret, l.failures
)
SELECT claimed.*, 0 AS put_off FROM claimed
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, count(*)::int4 FROM put_off`;

/** Selects the milliseconds until the first pending row of an enabled endpoint is due. */
const nextText = (isShard: boolean) => `
WITH ${endpoints}
SELECT date_part('epoch', min(o.due_at) - statement_timestamp()) * 1000 AS next_ms
FROM endpoint e
${enabledWebhook(isShard)}
CROSS JOIN LATERAL (
  SELECT o.due_at FROM parley.outbox o
  WHERE o.owner = e.owner AND o.webhook = e.webhook AND o.state = 'pending' ORDER BY o.due_at LIMIT 1
) o`;

const texts = {
  whole: { claim: claimText(false), next: nextText(false) },
  shard: { claim: claimText(true), next: nextText(true) },
};

async function claim(store: StoreContext, query: ClaimQuery): Promise<ClaimResult> {
  const { limit, leaseMs, except, healthyOnly } = query;
  const text = store.isShard ? texts.shard : texts.whole;
  for (;;) {
    const [rows = [], next = []] = await store.database.batch([
      {
        name: "claim_deliveries",
        text: text.claim,
        values: [
          Math.min(Math.max(0, Math.floor(limit)), 10_000),
          leaseMs,
          except.map(({ owner }) => storedText(owner)),
          except.map(({ webhookId }) => storedText(webhookId)),
          healthyOnly,
        ],
      },
      { name: "next_delivery", text: text.next },
    ]);
    const claimed = rows.filter(({ owner }) => owner !== null);
    const wasPutOff = rows.some((row) => Number(row.put_off) > 0);
    // Rows behind those that wait may be ready.
    if (claimed.length === 0 && wasPutOff && limit > 0) continue;
    const nextMs = next[0]?.next_ms;
    return {
      deliveries: claimed.map(claimedOf),
      ...(typeof nextMs === "number" ? { nextMs: Math.max(0, Math.ceil(nextMs)) } : {}),
    };
  }
}

function claimedOf(row: Record<string, unknown>): ClaimedDelivery {
  return {
    owner: originalText(String(row.owner)),
    webhookId: originalText(String(row.webhook)),
    position: positionOf(row),
    fence: Number(row.fence),
    id: String(row.id),
    type: String(row.type),
    data: originalJson(String(row.data)) as Record<string, unknown>,
    createdAt: Math.round(Number(row.created_ms)),
    attempt: Number(row.attempts),
    url: originalText(String(row.url)),
    secret: originalText(String(row.secret)),
    failures: Number(row.failures),
  };
}

/**
 * One statement: a node that has lost the claim changes nothing. What happened goes through the row: a condition of
 * parameters alone can be false for a whole table, which an engine that distributes the schema may leave out then.
 */
const settleText = `
WITH settled AS (
  UPDATE parley.outbox o SET state = $6, status = CASE WHEN $12::bool THEN o.status ELSE $7::int4 END,
    error = CASE WHEN $12::bool THEN o.error ELSE $8 END, attempts = o.attempts - $12::bool::int4,
    due_at = statement_timestamp() + $9::float8 * interval '1 millisecond'
  WHERE o.owner = $1 AND o.webhook = $2 AND o.number = $3::int8 AND o.place = $4::int4 AND o.fence = $5::int4
    AND o.state = 'pending'
  RETURNING o.owner, o.webhook, o.log, o.number, o.place, o.state, $10::bool AS delivered, $12::bool AS released
), following AS (
  SELECT n.owner, n.webhook, n.number, n.place, n.log FROM settled s CROSS JOIN LATERAL (
    SELECT * FROM parley.outbox n
    WHERE n.log = s.log AND n.webhook = s.webhook AND n.state = 'pending' AND n.owner = s.owner
      AND (n.number, n.place) > (s.number, s.place)
    ORDER BY n.number, n.place LIMIT 1
  ) n WHERE s.state <> 'pending'
), pulled AS (
  UPDATE parley.outbox o SET due_at = statement_timestamp() FROM following n
  WHERE o.owner = n.owner AND o.webhook = n.webhook AND o.number = n.number AND o.place = n.place
    AND o.attempts = 0 AND o.due_at > statement_timestamp()
), judged AS (
  UPDATE parley.webhook w SET failures = CASE WHEN s.delivered THEN 0 ELSE w.failures + 1 END,
    enabled = w.enabled AND NOT $11::bool
  FROM settled s WHERE w.owner = s.owner AND w.id = s.webhook AND NOT (s.delivered AND w.failures = 0)
    AND NOT s.released
)
SELECT 1 AS settled FROM settled`;

const states = {
  delivered: "delivered",
  dead: "dead",
  gone: "dead",
  retry: "pending",
  released: "pending",
} as const satisfies Record<DeliveryOutcome["kind"], string>;

async function settle(
  store: StoreContext,
  { owner, webhookId, position, fence }: DeliveryClaim,
  outcome: DeliveryOutcome,
): Promise<boolean> {
  const { kind } = outcome;
  const { status, error } = outcome.kind === "released" ? {} : outcome;
  const names = [storedText(owner), storedText(webhookId)] as const;
  const state = states[kind];
  const waitMs = outcome.kind === "retry" ? outcome.retryMs : "keepMs" in outcome ? outcome.keepMs : 0;
  const [rows = []] = await forOwners(store, [names[0]]).database.batch([
    {
      name: "settle_delivery",
      text: settleText,
      values: [
        ...names,
        ...readPosition(position),
        fence,
        state,
        status ?? null,
        error === undefined ? null : storedText(error),
        waitMs,
        kind === "delivered",
        kind === "gone",
        kind === "released",
      ],
    },
    ...(kind === "gone" ? [disabledStatement(...names, "gone"), giveUpStatement(...names, waitMs)] : []),
  ]);
  return rows.length > 0;
}

async function owners(store: StoreContext): Promise<string[]> {
  const rows = await store.database.query({
    name: "webhook_owners",
    text: "SELECT DISTINCT owner FROM parley.webhook WHERE enabled",
  });
  return rows.map(({ owner }) => originalText(String(owner)));
}

/** Time that deliveries are kept that were reported to an endpoint while it was being disabled. */
const strayMs = 24 * 60 * 60_000;

/**
 * Removes old rows. They are searched for first: the statements that follow then get keys, and find the rows by them.
 */
async function sweep(store: StoreContext, limit: number): Promise<number> {
  const [strays = [], over = []] = await store.database.batch([
    {
      name: "stray_deliveries",
      text: `
WITH ${endpoints}
SELECT e.owner, e.webhook FROM endpoint e LEFT JOIN LATERAL (
  SELECT true AS is_enabled FROM parley.webhook WHERE owner = e.owner AND id = e.webhook AND enabled OFFSET 0
) w ON true WHERE w.is_enabled IS NULL ${store.isShard ? `AND ${ownerIsHere("e.owner")}` : ""}`,
    },
    {
      name: "settled_deliveries",
      text: `SELECT owner, webhook, number::float8 AS number, place FROM parley.outbox
        WHERE state <> 'pending' AND due_at <= statement_timestamp() ${store.isShard ? `AND ${ownerIsHere("owner")}` : ""}
        ORDER BY due_at LIMIT $1::int4`,
      values: [Math.min(Math.max(0, Math.floor(limit)), 1_000_000)],
    },
  ]);
  for (const { owner, webhook } of strays) {
    await forOwners(store, [String(owner)]).database.query(
      giveUpStatement(String(owner), String(webhook), strayMs),
    );
  }
  if (over.length === 0) return 0;
  const removed = await store.database.query({
    name: "sweep_deliveries",
    text: `
DELETE FROM parley.outbox o USING unnest($1::text[], $2::text[], $3::int8[], $4::int4[]) AS s(owner, webhook, number, place)
WHERE o.owner = s.owner AND o.webhook = s.webhook AND o.number = s.number AND o.place = s.place
  AND o.state <> 'pending' AND o.due_at <= statement_timestamp()
RETURNING 1 AS removed`,
    values: [
      over.map(({ owner }) => String(owner)),
      over.map(({ webhook }) => String(webhook)),
      over.map(({ number }) => Number(number)),
      over.map(({ place }) => Number(place)),
    ],
  });
  return removed.length;
}
