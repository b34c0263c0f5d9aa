import { omitUndefined } from "@parley/fold";
import type { ExportedChunk, ExportedConversation, ExportLine, StoredChunk } from "@parley/wire";
import { ParleyError } from "../../errors.js";
import type { ConversationRecord, LogStore } from "../../ports/log-store.js";
import { toCallInfo } from "../api/call-info.js";
import { storedMeta } from "../conversation-meta.js";

/** Number of seqs that are read at once. */
const pageSeqs = 200;
/** Number of turns whose figures are read at once. */
const pageTurns = 200;

/** A chunk's line. `undone` is set on a summary that was taken out of force: the model does not read it any more. */
export type ChunkLine = ExportedChunk;

/**
 * Yields a conversation as lines, read piece by piece: itself, every sealed chunk, every sealed turn. An open turn is
 * left out, and so are archives. A fork names its parent and the last seq they share, and has all its chunks.
 */
export async function* exportConversation(
  store: LogStore,
  conversationId: string,
): AsyncGenerator<ExportLine, void, undefined> {
  const record = await store.get(conversationId);
  if (record === null) throw new ParleyError("conversation_not_found");
  const lastSeq = record.sealedSeq;
  yield header(record);
  for (let seq = 0; seq < lastSeq; seq += pageSeqs) {
    const beforeSeq = Math.min(seq + pageSeqs, lastSeq) + 1;
    const { chunks } = await store.readChunks({ conversationId, sinceSeq: seq, beforeSeq });
    for (const chunk of chunks) yield await chunkLine(store, conversationId, chunk);
  }
  for (const turnId of await sealedTurnIds(store, conversationId)) {
    const found = await store.readTurn(conversationId, turnId);
    const turn = found?.turn;
    if (turn?.metrics === undefined || turn.lastSeq > lastSeq) continue;
    yield {
      type: "turn",
      turnId,
      startedAt: turn.startedAt,
      ...omitUndefined({ sealedAt: turn.sealedAt }),
      metrics: turn.metrics,
      providerCalls: turn.providerCalls.map(toCallInfo),
    };
  }
}

/** Returns the ids of all turns with figures, oldest first, read page by page from the newest end. */
async function sealedTurnIds(store: LogStore, conversationId: string): Promise<string[]> {
  const ids: string[] = [];
  for (let page = await store.metrics(conversationId, { limit: pageTurns }); page.length > 0; ) {
    ids.push(...page.map(({ turnId }) => turnId).reverse());
    const before = page[0]?.turnId;
    if (before === undefined || page.length < pageTurns) break;
    page = await store.metrics(conversationId, { limit: pageTurns, before });
  }
  return ids.reverse();
}

function header(record: ConversationRecord): ExportedConversation {
  const { instructions, compactThreshold, metadata } = record;
  const { compactedFrom: _archive, ...meta } = storedMeta(record);
  return {
    type: "conversation",
    format: "parley.conversation.1",
    conversation: { ...meta, status: meta.status === "closed" ? "closed" : "idle" },
    ...omitUndefined({ instructions, compactThreshold }),
    ...(metadata === undefined
      ? {}
      : { metadata: metadata as NonNullable<ExportedConversation["metadata"]> }),
    lastSeq: record.sealedSeq,
  };
}

async function chunkLine(store: LogStore, conversationId: string, stored: StoredChunk): Promise<ChunkLine> {
  const { chunk, seq, messageId } = stored;
  const line: ChunkLine = { type: "chunk", ...stored };
  if (chunk.type !== "system" || chunk.covers === undefined) return line;
  // Summaries are few, and undone ones are left out of what is read for the model.
  const before = seq + (stored.partCount ?? 1) - (stored.partIndex ?? 0);
  const { entries } = await store.readNewest({ conversationId, limit: 1, before });
  return entries[0]?.message.id === messageId ? line : { ...line, undone: true };
}
