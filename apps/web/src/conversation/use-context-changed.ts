import type { ConversationState } from "@parley/client";
import { useClient } from "@parley/client/react";
import { useEffect, useState } from "react";
import { isContextChanged, isSummaryUnread, readSummary, summaryTakenBack } from "./context-changed.js";

/**
 * Returns true if the model's context has changed since it was last counted. A page that is open while a summary is
 * undone knows that. A page that opens later finds a summary that is not in force, and asks the server whether the
 * newest answer has read it: the log itself records only summaries.
 */
export function useContextChanged(state: ConversationState): boolean {
  const client = useClient();
  const compactedFrom = state.meta?.compactedFrom;
  const newestAnswer = state.messages.findLast(({ role }) => role === "assistant");
  const [seen, setSeen] = useState<{
    readonly compactedFrom: string | undefined;
    /** The answer that read a summary which was undone after it. */
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
        // The last count is shown.
        () => undefined,
      );
    return () => abort.abort();
  }, [client, id, turnId, messageId]);
  return isContextChanged(state, newestAnswer !== undefined && seen.undoneBehind === newestAnswer.id);
}
