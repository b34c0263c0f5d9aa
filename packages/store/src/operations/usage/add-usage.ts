import type { AddedUsage } from "@parley/core/ports";
import type { Statement } from "../../database.js";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { addToSums, counts, dayOf, figures, turnRows } from "./usage-rows.js";

/** Adds calls that no turn holds. Those of a removed conversation count without it. */
export async function addUsage(store: StoreContext, owner: string, added: AddedUsage): Promise<void> {
  const { conversationId, model, cost, usage } = added;
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage ?? {};
  const { reasoningTokens = 0 } = usage ?? {};
  const tokens = [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens];
  const rows = [
    ["", cost.calls, cost.unknownCalls, ...tokens, 0, 0],
    ...cost.amounts.map(({ currency, billed, estimated }) => [
      storedText(currency),
      ...counts.map(() => 0),
      billed,
      estimated,
    ]),
  ];
  const columns = ["currency", ...figures].map((_, place) => rows.map((row) => String(row[place])));
  await store.database.query({
    name: "add_usage",
    text: addUsageText,
    values: [
      owner,
      conversationId === undefined ? null : storedText(conversationId),
      storedText(model),
      ...columns,
    ],
  });
}

const addUsageText = `
WITH found AS MATERIALIZED (
  SELECT log FROM parley.conversation WHERE owner = $1 AND id = $2 AND status <> 'removed'
), added AS (
INSERT INTO parley.usage_sum AS u (owner, day, log, model, currency, ${figures.join(", ")})
SELECT $1, ${dayOf("statement_timestamp()")}, coalesce(found.log, 0), $3, g.currency,
  ${figures.map((name) => `g.${name}::numeric`).join(", ")}
FROM unnest($4::text[], ${figures.map((_, place) => `$${place + 5}::text[]`).join(", ")})
  AS g(currency, ${figures.join(", ")})
LEFT JOIN found ON true
ORDER BY g.currency
${addToSums}
RETURNING 1 AS added
)
SELECT count(*)::int4 AS added FROM added`;

/**
 * Keeps the figures of turns that are about to be deleted: those of a log behind a seq, and of an open turn as far as
 * it is committed. They count without their log.
 */
export function keepUsage({ log, owner }: { log: number; owner: string }, afterSeq: number): Statement {
  return { name: "keep_usage", text: keepUsageText, values: [log, afterSeq, owner] };
}

const gone = {
  from: "parley.conversation c JOIN parley.conversation_turn t ON t.log = c.log",
  where: "c.log = $1 AND c.owner = $3 AND t.last_seq > $2",
};

const tokenOf = (name: string) => `coalesce((call #>> '{usage,${name}}')::numeric, 0)`;

/** Calls of a turn that is not sealed: it has no metrics yet. */
const openRows = `open_calls AS (
  SELECT c.owner, ${dayOf("statement_timestamp()")} AS day, coalesce(t.model, '') AS model, x.call
  FROM ${gone.from} CROSS JOIN LATERAL jsonb_array_elements(t.provider_calls::jsonb) AS x(call)
  WHERE t.status <> 'sealed' AND ${gone.where}
), open_rows AS (
  SELECT owner, day, model, '' AS currency, 1 AS calls, CASE WHEN call -> 'cost' IS NULL THEN 1 ELSE 0 END AS unknown_calls,
    ${tokenOf("inputTokens")} AS input_tokens, ${tokenOf("outputTokens")} AS output_tokens,
    ${tokenOf("cacheReadTokens")} AS cache_read_tokens, ${tokenOf("cacheWriteTokens")} AS cache_write_tokens,
    ${tokenOf("reasoningTokens")} AS reasoning_tokens, 0::numeric AS billed, 0::numeric AS estimated
  FROM open_calls
  UNION ALL
  SELECT owner, day, model, call #>> '{cost,currency}', 0, 0, 0, 0, 0, 0, 0,
    CASE WHEN call #>> '{cost,source}' = 'billed' THEN (call #>> '{cost,amount}')::numeric ELSE 0 END,
    CASE WHEN call #>> '{cost,source}' = 'billed' THEN 0 ELSE (call #>> '{cost,amount}')::numeric END
  FROM open_calls WHERE call -> 'cost' IS NOT NULL
)`;

const keptColumns = ["owner", "day", "model", "currency", ...figures].join(", ");

const keepUsageText = `
WITH ${turnRows(gone.from, gone.where)}, ${openRows}, kept AS (
  SELECT ${keptColumns} FROM turn_rows UNION ALL SELECT ${keptColumns} FROM open_rows
)
INSERT INTO parley.usage_sum AS u (owner, day, log, model, currency, ${figures.join(", ")})
SELECT owner, day, 0, model, currency, ${figures.map((name) => `sum(${name})`).join(", ")}
FROM kept GROUP BY owner, day, model, currency ORDER BY day, model, currency
${addToSums}`;
