import type { CostSum } from "../figures/cost.js";
import type { Usage } from "../figures/usage.js";

/** Grouping of usage sums. `owner` needs `owners=all`. */
export type UsageGrouping = "day" | "model" | "conversation" | "owner";

/** `GET /usage`: tokens and cost of the caller's owner, over whole days in UTC. */
export interface UsageQuery {
  /** The first day, as `YYYY-MM-DD`. Default: 29 days before `to`. */
  readonly from?: string | undefined;
  /** The last day, inclusive. Default: today. At most 366 days are summed at once. */
  readonly to?: string | undefined;
  /** Default `day`. */
  readonly by?: UsageGrouping | undefined;
  /** Maximum number of groups to list; the total includes all of them. Default 100, at most 500. */
  readonly limit?: number | undefined;
  /** Sums another owner's usage. Needs the scope `admin`. */
  readonly owner?: string | undefined;
  /** `all`: sums the usage of all owners. Needs the scope `admin`. */
  readonly owners?: "all" | undefined;
}

/** Tokens and cost of some calls. */
export interface UsageSums extends CostSum {
  /** All calls together: steps, compactions and titles. Calls without a usage report are not included. */
  readonly usage: Usage;
}

/** The calls of one day, model, conversation or owner. */
export interface UsageGroup extends UsageSums {
  /** With `by=day`, as `YYYY-MM-DD`. */
  readonly day?: string;
  /** With `by=model`, as `credential/model`. Absent: it was not recorded. */
  readonly model?: string;
  /** With `by=conversation`. Absent: deleted conversations, and calls outside of any. */
  readonly conversationId?: string;
  /** With `by=conversation`. */
  readonly title?: string;
  /** With `by=owner`. */
  readonly owner?: string;
}

/** Sums of a range of days. Calls of a turn count on the day on which the turn ended. */
export interface UsageResponse {
  readonly from: string;
  /** Inclusive. */
  readonly to: string;
  readonly by: UsageGrouping;
  /** Days newest first; other groups by cost, the largest first. */
  readonly groups: readonly UsageGroup[];
  /** Over all groups, listed or not. */
  readonly total: UsageSums;
  /** Number of groups that the limit left out. Absent: none. */
  readonly omitted?: number;
}
