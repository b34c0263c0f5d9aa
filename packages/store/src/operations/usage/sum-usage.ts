import type { SummedUsage, UsageRange } from "@parley/core/ports";
import type { CostAmount, UsageGroup, UsageGrouping, UsageSums } from "@parley/wire";
import type { ResultRow } from "../../database.js";
import { ownerIsHere } from "../../shards/guard-owners.js";
import type { StoreContext } from "../../store-context.js";
import { originalText } from "../../stored-text.js";
import { dayOf, figures, turnRows } from "./usage-rows.js";

const dayMs = 86_400_000;

/** Sums the usage of one owner. */
export function sumOwnerUsage(store: StoreContext, owner: string, range: UsageRange): Promise<SummedUsage> {
  return sum(store, owner, range);
}

/** Sums the usage of all owners. */
export function sumAllUsage(store: StoreContext, range: UsageRange): Promise<SummedUsage> {
  return sum(store, undefined, range);
}

async function sum(store: StoreContext, owner: string | undefined, range: UsageRange): Promise<SummedUsage> {
  const { from, to, by, limit } = range;
  const start = Date.parse(`${from}T00:00:00Z`);
  const end = Date.parse(`${to}T00:00:00Z`) + dayMs;
  const rows = await store.database.query({
    name: `sum_usage_${by}${owner === undefined ? "_of_all" : ""}`,
    text: sumText(by, owner !== undefined, store.isShard),
    values: [
      new Date(start).toISOString(),
      new Date(end).toISOString(),
      limit,
      ...(owner === undefined ? [] : [owner]),
    ],
  });
  const listed = rows.filter((row) => row.place !== null);
  const places = [...new Set(listed.map((row) => Number(row.place)))].sort((a, b) => a - b);
  const groups = places.map((place): UsageGroup => {
    const own = listed.filter((row) => Number(row.place) === place);
    return { ...nameOf(by, own[0] ?? {}, owner === undefined), ...sumsOf(own) };
  });
  const total = sumsOf(rows.filter((row) => row.place === null));
  return { groups, total, omitted: Number(rows[0]?.groups ?? 0) - groups.length };
}

/** A turn that ended without its own row left the mark of its conversation's activity at its last row. */
const activityMargin = "interval '2 days'";

/** Key by which rows are grouped, and the order of the groups. */
const keys: Record<UsageGrouping, { readonly key: string; readonly order: string }> = {
  day: { key: "r.day::text", order: "key::int4 DESC" },
  model: { key: 'r.model COLLATE "C"', order: "weight DESC, key" },
  conversation: { key: "coalesce(c.log, 0)::text", order: "weight DESC, key::int8" },
  owner: { key: "r.owner", order: "weight DESC, key" },
};

function sumText(by: UsageGrouping, ofOwner: boolean, isShard: boolean): string {
  const { key, order } = keys[by];
  const sums = figures.map((name) => `sum(${name}) AS ${name}`).join(", ");
  const read = figures.map((name) => `s.${name}::float8 AS ${name}`).join(", ");
  const own = (column: string) => {
    if (ofOwner) return `${column} = $4 AND `;
    return isShard ? `${ownerIsHere(column)} AND ` : "";
  };
  return `
WITH ${turnRows(
    "parley.conversation c JOIN parley.conversation_turn t ON t.log = c.log",
    `${own("c.owner")}c.last_activity_at >= $1::timestamptz - ${activityMargin}
    AND t.sealed_at >= $1::timestamptz AND t.sealed_at < $2::timestamptz`,
  )}, rows AS (
  SELECT owner, log, day, model, currency, ${figures.join(", ")} FROM turn_rows
  UNION ALL
  SELECT u.owner, u.log, u.day, u.model, u.currency, ${figures.map((name) => `u.${name}`).join(", ")}
  FROM parley.usage_sum u
  WHERE ${own("u.owner")}u.day >= ${dayOf("$1::timestamptz")} AND u.day < ${dayOf("$2::timestamptz")}
), sums AS MATERIALIZED (
  SELECT ${key} AS key, r.currency, ${sums}
  FROM rows r ${by === "conversation" ? livingConversation("r.log") : ""}
  GROUP BY 1, 2
), ranked AS MATERIALIZED (
  SELECT key, row_number() OVER (ORDER BY ${order}) AS place
  FROM (SELECT key, sum(billed + estimated) AS weight FROM sums GROUP BY key) AS weighed
)
SELECT r.place::float8 AS place, s.key, s.currency, ${read}, (SELECT count(*) FROM ranked)::float8 AS groups
  ${by === "conversation" ? ", c.id, c.title, c.owner" : ""}
FROM sums s JOIN ranked r ON r.key = s.key ${by === "conversation" ? livingConversation("s.key::int8") : ""}
WHERE r.place <= $3::int8
UNION ALL
SELECT NULL, NULL, s.currency, ${figures.map((name) => `sum(s.${name})::float8`).join(", ")},
  (SELECT count(*) FROM ranked)::float8 ${by === "conversation" ? ", NULL, NULL, NULL" : ""}
FROM sums s GROUP BY s.currency`;
}

function livingConversation(log: string): string {
  return `LEFT JOIN parley.conversation c ON c.log = ${log} AND c.status <> 'removed'`;
}

function nameOf(by: UsageGrouping, row: ResultRow, ofAll: boolean): Partial<UsageGroup> {
  const key = String(row.key);
  switch (by) {
    case "day":
      return { day: new Date(Number(key) * dayMs).toISOString().slice(0, 10) };
    case "model":
      return key === "" ? {} : { model: originalText(key) };
    case "owner":
      return { owner: originalText(key) };
    case "conversation": {
      if (typeof row.id !== "string") return {};
      const owner = ofAll ? { owner: originalText(String(row.owner)) } : {};
      return { conversationId: originalText(row.id), title: originalText(String(row.title)), ...owner };
    }
  }
}

function sumsOf(rows: readonly ResultRow[]): UsageSums {
  const counted = rows.find((row) => row.currency === "");
  const count = (name: string) => Number(counted?.[name] ?? 0);
  const optional = {
    cacheReadTokens: count("cache_read_tokens"),
    cacheWriteTokens: count("cache_write_tokens"),
    reasoningTokens: count("reasoning_tokens"),
  };
  const known = Object.entries(optional).filter(([, tokens]) => tokens > 0);
  return {
    calls: count("calls"),
    unknownCalls: count("unknown_calls"),
    amounts: rows
      .filter((row) => row.currency !== "")
      .map(amountOf)
      .sort((a, b) => (a.currency < b.currency ? -1 : 1)),
    usage: {
      inputTokens: count("input_tokens"),
      outputTokens: count("output_tokens"),
      ...Object.fromEntries(known),
    },
  };
}

function amountOf(row: ResultRow): CostAmount {
  return {
    currency: originalText(String(row.currency)),
    billed: Number(row.billed),
    estimated: Number(row.estimated),
  };
}
