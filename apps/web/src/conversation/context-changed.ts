import type { ConversationState, MessageState } from "@parley/client";
import type { ProviderCallInfo } from "@parley/wire";

/** Returns true if a summary was written, or undone, since the newest call. */
export function isContextChanged(
  state: Pick<ConversationState, "messages" | "meta">,
  newestCallHadSummary: boolean,
): boolean {
  const isInForce = state.meta?.compactedFrom !== undefined;
  return isInForce ? isSummaryUnread(state.messages) : newestCallHadSummary;
}

/** Returns true if the newest summary was written after the newest answer. */
export function isSummaryUnread(messages: readonly MessageState[]): boolean {
  const newest = messages.findLast(
    ({ role, parts }) => role === "assistant" || parts.some(({ chunk }) => isSummary(chunk)),
  );
  return newest?.parts.some(({ chunk }) => isSummary(chunk)) ?? false;
}

/**
 * Returns the newest answer, if a summary before it is not in force: the answer may have read that summary, or have
 * been written after the summary was undone. Undefined while a turn runs, because its next call reports a new count.
 */
export function summaryTakenBack(
  state: Pick<ConversationState, "messages" | "meta" | "activeTurn">,
): { readonly id: string; readonly turnId: string; readonly messageId: string } | undefined {
  const { messages, meta, activeTurn } = state;
  if (meta === undefined || meta.compactedFrom !== undefined || activeTurn !== undefined) return undefined;
  const place = messages.findLastIndex(({ role }) => role === "assistant");
  const answer = messages[place];
  const isBehindSummary = messages
    .slice(0, Math.max(0, place))
    .some(({ parts }) => parts.some(({ chunk }) => isSummary(chunk)));
  if (answer?.turnId === undefined || !isBehindSummary) return undefined;
  return { id: meta.id, turnId: answer.turnId, messageId: answer.id };
}

/** Returns true if the newest call of these steps included a summary. */
export function readSummary(calls: readonly ProviderCallInfo[]): boolean {
  const newest = calls.findLast(
    ({ purpose, manifest }) => purpose !== "compaction" && manifest !== undefined,
  );
  return newest?.manifest?.segments.some(({ kind }) => kind === "summary") ?? false;
}

function isSummary(chunk: MessageState["parts"][number]["chunk"]): boolean {
  return chunk.type === "system" && chunk.covers !== undefined;
}
