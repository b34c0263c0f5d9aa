import type { ConversationState, MessageState } from "@parley/client";
import type { ProviderCallInfo } from "@parley/wire";

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

/**
 * The newest answer, where a summary stands before it that is not in force: it may have read that summary, or have
 * been written after the summary was taken back. Undefined while a turn runs, for then the next count is on its way.
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

/** Whether the newest of the calls that steps made was sent a summary. */
export function readSummary(calls: readonly ProviderCallInfo[]): boolean {
  const newest = calls.findLast(
    ({ purpose, manifest }) => purpose !== "compaction" && manifest !== undefined,
  );
  return newest?.manifest?.segments.some(({ kind }) => kind === "summary") ?? false;
}

function isSummary(chunk: MessageState["parts"][number]["chunk"]): boolean {
  return chunk.type === "system" && chunk.covers !== undefined;
}
