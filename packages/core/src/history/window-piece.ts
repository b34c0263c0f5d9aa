import type { ConversationMessage } from "../messages/message.js";
import { type Repair, repairHistory } from "../messages/provider/repair.js";
import type { HistoryEntry } from "../ports.js";
import { type ContextCost, sumCost } from "./context-cost.js";
import type { MessageMeter } from "./message-tokens.js";
import type { TurnPiece } from "./split-steps.js";

/** A stretch of the window: its entries of the log, and what the model is shown of them. */
export interface WindowPiece {
  readonly kind: "summary" | TurnPiece["kind"];
  /** In order. */
  readonly entries: readonly HistoryEntry[];
  /** The messages of the entries, with exactly one result after each call. */
  readonly messages: readonly ConversationMessage[];
  readonly repairs: readonly Repair[];
  /** Cost of each of the messages. */
  readonly costs: readonly ContextCost[];
  /** Sum of the costs. */
  readonly cost: ContextCost;
}

/** A turn of which each piece is repaired and measured. */
export interface MeasuredTurn {
  /** In order. */
  readonly pieces: readonly WindowPiece[];
}

/**
 * Repairs and measures a piece by itself. A piece holds the results of its calls, so pieces that are repaired one by
 * one are a repaired history, and later pieces never change earlier ones.
 */
export function measurePiece(
  kind: WindowPiece["kind"],
  entries: readonly HistoryEntry[],
  measure: MessageMeter,
): WindowPiece {
  const { messages, repairs } = repairHistory(entries.map((entry) => entry.message));
  const isAsStored = messages.length === entries.length;
  const costs = messages.map((message, place) => {
    const entry = entries[place];
    const isOwn = isAsStored && entry !== undefined && entry.message === message;
    return measure(message, isOwn ? entry.tokens : undefined);
  });
  return { kind, entries, messages, repairs, costs, cost: sumCost(costs) };
}

/** Returns true if an entry is before a seq. One without a seq is not in the log yet, so it is not. */
export function isBefore(entry: HistoryEntry, seq: number | undefined): boolean {
  return seq !== undefined && entry.lastSeq !== undefined && entry.lastSeq < seq;
}
