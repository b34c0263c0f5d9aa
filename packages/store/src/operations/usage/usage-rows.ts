import { modelPlace, restPlace, stepsPlace, usagePlace } from "../../packed-metrics.js";

/**
 * Figures of calls, as columns. Counts and amounts are in separate rows: those of an empty currency hold the counts of
 * calls and tokens, those of a currency hold money.
 */
export const counts = [
  "calls",
  "unknown_calls",
  "input_tokens",
  "output_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
] as const;

export const figures = [...counts, "billed", "estimated"] as const;

/**
 * Places of a turn's amounts, one for each currency. A turn calls one model, which is charged in one currency, or in
 * two where only some calls are billed. A function that returns the elements would be planned as if there were a
 * hundred, which makes the server compile the statement for longer than it runs.
 */
const amountPlaces = [0, 1, 2, 3];

/** Returns the day of a time, counted from 1970 in UTC, without a function that depends on settings. */
export function dayOf(time: string): string {
  return `floor(date_part('epoch', ${time} - timestamptz '1970-01-01 00:00:00+00') / 86400)::int4`;
}

/**
 * Returns two queries of a WITH: `turns` and `turn_rows`, the figures of sealed turns, by owner, log, day and model.
 * `from` names the turns `t` and their conversations `c`. Imported turns have no fence: they cost nothing here.
 */
export function turnRows(from: string, where: string): string {
  const cost = `m #> '{${restPlace},cost}'`;
  const steps = `coalesce(m -> ${stepsPlace}, m -> 'steps')`;
  const stepCount = `CASE WHEN jsonb_typeof(${steps}) = 'array' THEN jsonb_array_length(${steps}) ELSE 0 END`;
  const compacted = (name: string) =>
    `coalesce((m #>> '{${restPlace},compactionUsage,${name}}')::numeric, 0)`;
  const tokens = (name: string, place: number) =>
    `coalesce((m -> ${usagePlace} ->> ${place})::numeric, (m #>> '{usage,${name}}')::numeric, 0) + ${compacted(name)}`;
  return `turns AS MATERIALIZED (
  SELECT c.owner, t.log, ${dayOf("t.sealed_at")} AS day, t.model, t.metrics::jsonb AS m
  FROM ${from}
  WHERE t.status = 'sealed' AND t.sealed_fence IS NOT NULL AND t.metrics IS NOT NULL AND ${where}
), named AS (
  SELECT owner, log, day, coalesce(model, m ->> ${modelPlace}, m ->> 'model', '') AS model, m FROM turns
), turn_rows AS (
  SELECT owner, log, day, model, '' AS currency,
    coalesce((${cost} ->> 'calls')::numeric, ${stepCount}) AS calls,
    coalesce((${cost} ->> 'unknownCalls')::numeric, ${stepCount}) AS unknown_calls,
    ${tokens("inputTokens", 0)} AS input_tokens, ${tokens("outputTokens", 1)} AS output_tokens,
    ${tokens("cacheReadTokens", 2)} AS cache_read_tokens, ${tokens("cacheWriteTokens", 3)} AS cache_write_tokens,
    ${tokens("reasoningTokens", 4)} AS reasoning_tokens, 0::numeric AS billed, 0::numeric AS estimated
  FROM named
  UNION ALL
  SELECT owner, log, day, model, a.amount ->> 'currency', 0, 0, 0, 0, 0, 0, 0,
    (a.amount ->> 'billed')::numeric, (a.amount ->> 'estimated')::numeric
  FROM named CROSS JOIN (VALUES ${amountPlaces.map((place) => `(${place})`).join(", ")}) AS p(place)
  CROSS JOIN LATERAL (SELECT ${cost} -> 'amounts' -> p.place AS amount) AS a
  WHERE a.amount IS NOT NULL
)`;
}

/**
 * Adds rows to the existing ones. Rows come in the order of the key, so that two writers do not wait for each other.
 */
export const addToSums = `ON CONFLICT (owner, day, log, model, currency) DO UPDATE
  SET ${figures.map((name) => `${name} = u.${name} + excluded.${name}`).join(", ")}`;
