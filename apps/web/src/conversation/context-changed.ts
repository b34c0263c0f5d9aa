import type { ConversationState, MessageState } from "@parley/client";

/** Whether a summary was written, or taken back, since the newest call. */
export function isContextChanged(
  state: Pick<ConversationState, "messages" | "meta">,
  newestCallHadSummary: boolean,
): boolean {
  const isInForce = state.meta?.compactedFrom !== undefined;
  return isInForce ? isSummaryUnread(state.messages) : newestCallHadSummary;
}

/** Whether the newest summary has been written after the newest answer. */
export function isSummaryUnread(messages: readonly MessageState[]): boolean {
  const newest = messages.findLast(
    ({ role, parts }) => role === "assistant" || parts.some(({ chunk }) => isSummary(chunk)),
  );
  return newest?.parts.some(({ chunk }) => isSummary(chunk)) ?? false;
}

function isSummary(chunk: MessageState["parts"][number]["chunk"]): boolean {
  return chunk.type === "system" && chunk.covers !== undefined;
}
