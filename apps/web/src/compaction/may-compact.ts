import type { ConversationState } from "@parley/client";

/** The fewest messages that a summary may replace. */
const fewestCovered = 2;

/**
 * Returns false if it is known without a request that nothing is older than the messages to keep. Returns true if there
 * may be something, also if not all of the log is loaded here.
 */
export function mayCompact(
  { messages, meta, hasEarlier }: Pick<ConversationState, "messages" | "meta" | "hasEarlier">,
  keepLastN: number,
): boolean {
  const summaries = messages.flatMap(({ parts }) =>
    parts.flatMap(({ chunk }) =>
      chunk.type === "system" && chunk.covers !== undefined ? [chunk.covers] : [],
    ),
  );
  const isCompacted = meta?.compactedFrom !== undefined;
  // Of several summaries, some may have been undone: only the server knows which one is in force.
  if (isCompacted ? summaries.length !== 1 : hasEarlier) return true;
  const coveredSeq = isCompacted ? (summaries[0]?.lastSeq ?? 0) : 0;
  const open = messages.filter(
    ({ status, firstSeq = 0, parts }) =>
      status === "committed" &&
      firstSeq > coveredSeq &&
      !parts.some(({ chunk }) => chunk.type === "system" && chunk.covers !== undefined),
  );
  return open.length - keepLastN >= fewestCovered;
}
