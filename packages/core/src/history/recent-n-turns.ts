import type { ConversationMessage } from "../messages/message.js";
import { repairHistory } from "../messages/provider/repair.js";
import type { ConversationStore, HistoryEntry } from "../ports.js";
import { createCoveredRanges } from "./covered-ranges.js";
import type { HistoryBuilder, HistoryBuildRequest, HistoryBuildResult } from "./history-builder.js";
import { canReadNewest, readPages } from "./read-pages.js";
import { createTurnGrouper, type TurnGroup } from "./turn-grouper.js";

export interface RecentNTurnsHistoryBuilderOptions {
  /** Number of most recent turns to include before the new user message(s). */
  maxTurns: number;
}

/**
 * Shows the model a fixed number of turns before the new messages, whatever their size; the request's budget
 * is not looked at. The new messages are left out of what the store returns, by id, and appended.
 * A summary stands in for what it covers and does not count as a turn.
 */
export class RecentNTurnsHistoryBuilder implements HistoryBuilder {
  readonly #maxTurns: number;

  constructor(options: RecentNTurnsHistoryBuilderOptions) {
    this.#maxTurns = Math.max(0, options.maxTurns);
  }

  async buildHistory(req: HistoryBuildRequest): Promise<HistoryBuildResult> {
    const newest = [...req.newUserMessages, ...(req.turnMessages ?? [])];
    const newIds = new Set(newest.map((message) => message.id));
    const grouper = createTurnGrouper();
    const covered = createCoveredRanges();
    const turns: TurnGroup[] = grouper.addTurn(newest.map((message) => ({ message })));
    const summaries: HistoryEntry[] = [];
    // The new messages are a turn of their own, once it is known that they answer no call of the one before.
    const wanted = this.#maxTurns + (newest.length > 0 ? 1 : 0);
    let truncated = false;
    for await (const entry of newestFirst(req.store, req.conversation.id)) {
      if (newIds.has(entry.message.id)) continue;
      if (entry.covers !== undefined) {
        if (covered.add(entry, entry.covers) !== undefined) summaries.push(entry);
        continue;
      }
      if (covered.hides(entry)) {
        if (covered.hidesFromHere(entry)) break;
        continue;
      }
      turns.push(...grouper.add(entry));
      truncated = turns.length >= wanted && !grouper.awaitsCall();
      if (truncated) break;
    }
    if (!truncated) turns.push(...grouper.end());
    const kept = turns.slice(0, wanted);
    const entries = [...summaries.toReversed(), ...kept.toReversed().flatMap((turn) => turn.entries)];
    return {
      messages: [...repairHistory(entries.map((entry) => entry.message)).messages],
      truncated: truncated || kept.length < turns.length,
      entries,
    };
  }
}

async function* newestFirst(
  store: ConversationStore,
  conversationId: string,
): AsyncGenerator<HistoryEntry, void, undefined> {
  if (canReadNewest(store)) {
    for await (const page of readPages(store, conversationId)) yield* page;
    return;
  }
  const messages: ConversationMessage[] = await store.listMessages(conversationId, { ascending: true });
  for (const message of messages.toReversed()) yield { message };
}
