import type { ConversationState } from "@parley/client";
import { useState } from "react";
import { isContextChanged, isSummaryUnread } from "./context-changed.js";

/**
 * Whether what the model reads has changed since it was last counted. That a summary was taken back is known from
 * having seen it: the log itself tells only of summaries.
 */
export function useContextChanged(state: ConversationState): boolean {
  const compactedFrom = state.meta?.compactedFrom;
  const newestAnswer = state.messages.findLast(({ role }) => role === "assistant")?.id;
  const [seen, setSeen] = useState<{
    readonly compactedFrom: string | undefined;
    /** The answer that read a summary which was taken back then. */
    readonly undoneBehind?: string | undefined;
  }>({ compactedFrom });
  if (seen.compactedFrom !== compactedFrom) {
    const isUndone = compactedFrom === undefined && !isSummaryUnread(state.messages);
    setSeen({ compactedFrom, ...(isUndone ? { undoneBehind: newestAnswer } : {}) });
  }
  return isContextChanged(state, newestAnswer !== undefined && seen.undoneBehind === newestAnswer);
}
