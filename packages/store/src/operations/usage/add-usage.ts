import type { AddedUsage } from "@parley/core/ports";
import type { Statement } from "../../database.js";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { addToSums, amounts, counts, dayOf, figures, turnRows } from "./usage-rows.js";

/** Adds calls that no turn holds. Those of a conversation that is gone count without it. */
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
INSERT INTO parley.usage_sum AS u (owner, day, log, model, currency, ${figures.join(", ")})
SELECT $1, ${dayOf("statement_timestamp()")}, coalesce(c.log, 0), $3, g.currency,
  ${figures.map((name) => `g.${name}::numeric`).join(", ")}
FROM unnest($4::text[], ${figures.map((_, place) => `$${place + 5}::text[]`).join(", ")})
  AS g(currency, ${figures.join(", ")})
LEFT JOIN parley.conversation c ON c.owner = $1 AND c.id = $2 AND c.status <> 'removed'
ORDER BY g.currency
${addToSums}`;

/** Keeps the figures of turns that are about to be deleted: those of a log behind a seq. They count without their log. */
export function keepUsage({ log, owner }: { log: number; owner: string }, afterSeq: number): Statement {
  return { name: "keep_usage", text: keepUsageText, values: [log, afterSeq, owner] };
}

const keepUsageText = `
WITH ${turnRows(
  "parley.conversation c JOIN parley.conversation_turn t ON t.log = c.log",
  "c.log = $1 AND c.owner = $3 AND t.last_seq > $2",
)}
INSERT INTO parley.usage_sum AS u (owner, day, log, model, currency, ${figures.join(", ")})
SELECT owner, day, 0, model, currency, ${[...counts, ...amounts].map((name) => `sum(${name})`).join(", ")}
FROM turn_rows GROUP BY owner, day, model, currency ORDER BY day, model, currency
${addToSums}`;
