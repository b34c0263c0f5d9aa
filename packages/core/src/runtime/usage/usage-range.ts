import { omitUndefined } from "@parley/fold";
import type { UsageGrouping, UsageQuery, UsageResponse } from "@parley/wire";
import { invalidField } from "../../errors.js";
import type { SummedUsage, UsageRange } from "../../ports/usage-store.js";

const dayMs = 86_400_000;
const defaultDays = 30;
const mostDays = 366;
const defaultGroups = 100;
const mostGroups = 500;

/** Groupings of usage sums. */
const groupings: readonly UsageGrouping[] = ["day", "model", "conversation", "owner"];

/** Sums the requested usage. `invalid_request` names what cannot be summed. */
export async function answerUsage(
  store: { sumUsage(range: UsageRange): Promise<SummedUsage> },
  query: UsageQuery,
  now: number,
): Promise<UsageResponse> {
  const range = usageRange(query, now);
  const { groups, total, omitted } = await store.sumUsage(range);
  const { from, to, by } = range;
  return { from, to, by, groups, total, ...omitUndefined({ omitted: omitted > 0 ? omitted : undefined }) };
}

/** Returns the days that a query names, otherwise the last 30, today included. */
function usageRange(query: UsageQuery, now: number): UsageRange {
  const { by = "day", limit = defaultGroups } = query;
  if (!groupings.includes(by)) throw invalidField("by", `one of ${groupings.join(", ")}`);
  if (!Number.isInteger(limit) || limit < 1) throw invalidField("limit", "a whole number of at least 1");
  const to = query.to === undefined ? Math.floor(now / dayMs) : dayOf("to", query.to);
  const from = query.from === undefined ? to - defaultDays + 1 : dayOf("from", query.from);
  if (from > to) throw invalidField("from", "a day that is not after `to`");
  if (to - from >= mostDays)
    throw invalidField("from", `at most ${mostDays} days before the day after \`to\``);
  return { from: dayText(from), to: dayText(to), by, limit: Math.min(limit, mostGroups) };
}

/** Returns the days since 1970, in UTC. */
function dayOf(field: string, text: string): number {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  // `Date.parse` moves the 31st of a shorter month to the next one.
  if (Number.isNaN(time) || dayText(time / dayMs) !== text) throw invalidField(field, "a day as YYYY-MM-DD");
  return time / dayMs;
}

function dayText(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}
