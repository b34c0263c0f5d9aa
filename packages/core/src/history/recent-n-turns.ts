import { BudgetedHistoryBuilder } from "./budgeted-history-builder.js";
import type { HistoryBuilder, HistoryBuildRequest, HistoryBuildResult } from "./history-builder.js";

export interface RecentNTurnsHistoryBuilderOptions {
  /** Number of most recent turns to include before the new user message(s). */
  maxTurns: number;
}

/**
 * Shows the model a number of turns before the new messages, or fewer if they do not fit the request's budget.
 * The new messages are left out of what the store returns, by id, and appended. A summary replaces what it covers and
 * does not count as a turn.
 */
export class RecentNTurnsHistoryBuilder implements HistoryBuilder {
  readonly #builder: BudgetedHistoryBuilder;

  constructor(options: RecentNTurnsHistoryBuilderOptions) {
    // Without slack: a caller gets all of the requested turns, if they fit.
    this.#builder = new BudgetedHistoryBuilder({ maxTurns: Math.max(0, options.maxTurns), slack: 0 });
  }

  buildHistory(req: HistoryBuildRequest): Promise<HistoryBuildResult> {
    return this.#builder.buildHistory(req);
  }
}
