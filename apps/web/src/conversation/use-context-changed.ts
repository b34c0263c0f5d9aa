import type { ConversationState } from "@parley/client";
import { useClient } from "@parley/client/react";
import { useEffect, useState } from "react";
import { isContextChanged, isSummaryUnread, readSummary, summaryTakenBack } from "./context-changed.js";

/**
 * Whether what the model reads has changed since it was last counted. That a summary was taken back is known from
 * having seen it. Who comes later sees a summary that is not in force any more, and asks whether the newest answer
 * has read it: the log itself tells only of summaries.
 */
export function useContextChanged(state: ConversationState): boolean {
  const client = useClient();
  const compactedFrom = state.meta?.compactedFrom;
  const newestAnswer = state.messages.findLast(({ role }) => role === "assistant");
  const [seen, setSeen] = useState<{
    readonly compactedFrom: string | undefined;
    /** The answer that read a summary which was taken back then. */
    readonly undoneBehind?: string | undefined;
  }>({ compactedFrom });
  if (seen.compactedFrom !== compactedFrom) {
    const isUndone = compactedFrom === undefined && !isSummaryUnread(state.messages);
    setSeen({ compactedFrom, ...(isUndone ? { undoneBehind: newestAnswer?.id } : {}) });
  }
  const { id, turnId, messageId } = summaryTakenBack(state) ?? {};
  useEffect(() => {
    if (id === undefined || turnId === undefined) return;
    const abort = new AbortController();
    client
      .request("GET /conversations/:id/turns/:turnId", { params: { id, turnId }, signal: abort.signal })
      .then(
        ({ providerCalls }) => {
          if (readSummary(providerCalls)) setSeen((now) => ({ ...now, undoneBehind: messageId }));
        },
        // What was counted last is shown.
        () => undefined,
      );
    return () => abort.abort();
  }, [client, id, turnId, messageId]);
  return isContextChanged(state, newestAnswer !== undefined && seen.undoneBehind === newestAnswer.id);
}
