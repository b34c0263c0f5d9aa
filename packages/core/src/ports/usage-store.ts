import type { CostSum, Usage, UsageGroup, UsageGrouping, UsageSums } from "@parley/wire";
import type { ConversationId } from "../messages/message.js";

/** Calls of one model that no turn holds: titles, compactions by hand, turns that are not kept. */
export interface AddedUsage {
  /** If absent, or unknown by now, they still count for the owner. */
  conversationId?: ConversationId;
  /** As `credential/model`. */
  model: string;
  cost: CostSum;
  /** Absent if no call reported any. */
  usage?: Usage;
}

/** A range of days in UTC, as `YYYY-MM-DD`, both included. */
export interface UsageRange {
  from: string;
  to: string;
  by: UsageGrouping;
  /** Maximum number of groups to return. */
  limit: number;
}

/** Sums of a range of days. */
export interface SummedUsage {
  /** Days newest first; others by cost over all currencies, the largest first, then by name. */
  groups: UsageGroup[];
  /** Over all groups, also those that the limit leaves out. */
  total: UsageSums;
  omitted: number;
}

/**
 * Tokens and cost of one owner's calls. A turn's calls count on the day of its seal, by its metrics: those of a turn
 * without `cost` are one per step, of unknown cost. Imported turns do not count, because they cost nothing here;
 * inherited ones count once, where they were made. Deleted turns stay counted, without their conversation.
 */
export interface UsageStore {
  /** Adds calls that no turn holds, on the current day of the store. */
  addUsage(added: AddedUsage): Promise<void>;
  sumUsage(range: UsageRange): Promise<SummedUsage>;
}
