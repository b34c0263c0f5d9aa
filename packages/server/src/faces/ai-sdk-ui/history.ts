import { omitUndefined } from "@parley/core/messages";
import { type CommittedMessage, closingEvents, replayTurn, sealedEvent } from "@parley/fold";
import type {
  AgentEvent,
  Chunk,
  FileReference,
  InlineFile,
  StoredChunk,
  TurnMetrics,
  TurnReason,
} from "@parley/wire";
import { fileAddress } from "../file-address.js";
import { TurnProjection } from "./project-turn.js";
import { messageOfChunks, type ShownDecision, type UiMessage, type UiPart } from "./ui-message.js";

/** Records from which a conversation's history is made. */
export interface HistorySource {
  readonly conversationId: string;
  /** In order. Of a window that begins later than the log, an incomplete first turn is left out. */
  readonly chunks: readonly StoredChunk[];
  /** Of the sealed turns. */
  readonly metrics: ReadonlyMap<string, TurnMetrics>;
  /** Turns that were not sealed when the chunks were read. */
  readonly open: ReadonlySet<string>;
  /** The one of them that waits for input. */
  readonly waiting?: { readonly turnId: string; readonly model?: string | undefined } | undefined;
}

interface Row extends CommittedMessage {
  readonly turnId?: string | undefined;
}

/**
 * Makes the messages of a conversation. Of a running turn only the user's message: its answer comes by the stream, and a
 * client that had a part of it would show it twice. Of one that waits, all.
 */
export function messagesOf(source: HistorySource): UiMessage[] {
  const groups = groupByTurn(rowsOf(source.chunks));
  const isCut = (source.chunks[0]?.seq ?? 1) > 1;
  return groups.slice(isCut ? 1 : 0).flatMap((rows) => messagesOfGroup(source, rows));
}

function messagesOfGroup(source: HistorySource, rows: readonly Row[]): UiMessage[] {
  const turnId = rows[0]?.turnId;
  if (turnId === undefined) return messagesOutsideTurns(source, rows);
  const answerAt = rows.findIndex(({ role }) => role !== "user");
  const opening = answerAt < 0 ? rows : rows.slice(0, answerAt);
  const users = opening.map((row) => userMessage(source, row));
  if (source.open.has(turnId) && source.waiting?.turnId !== turnId) return users;
  const answer = answerOf(eventsOf(source, turnId, rows), turnId, rows);
  return [...users, { ...answer, parts: [...answer.parts, ...filesIn(source, rows)] }];
}

/** Makes messages that no turn of Parley's runtime made, such as imported ones. */
function messagesOutsideTurns(source: HistorySource, rows: readonly Row[]): UiMessage[] {
  const messages: UiMessage[] = [];
  for (let at = 0; at < rows.length; ) {
    const row = rows[at] as Row;
    at += 1;
    if (row.role === "user") messages.push(userMessage(source, row));
    if (row.role !== "assistant") continue;
    const answer = [row];
    for (; rows[at]?.role === "tool" || rows[at]?.role === "assistant"; at += 1) answer.push(rows[at] as Row);
    const { metadata: _, ...message } = answerOf(eventsOf(source, row.id, answer), row.id, answer);
    messages.push(message);
  }
  return messages;
}

function answerOf(events: readonly AgentEvent[], turnId: string, rows: readonly Row[]): UiMessage {
  const projection = new TurnProjection(turnId);
  return messageOfChunks(
    events.flatMap((event) => projection.next(event)),
    decisionsIn(rows),
  );
}

/** Returns the turn's events, as a client that joins now is sent them. */
function eventsOf(source: HistorySource, turnId: string, rows: readonly Row[]): AgentEvent[] {
  const { conversationId, waiting } = source;
  const metrics = source.metrics.get(turnId);
  const turn = { conversationId, turnId, startedAt: 0, messages: rows, steps: metrics?.steps ?? [] };
  const isWaiting = waiting?.turnId === turnId;
  const model = isWaiting ? waiting.model : metrics?.model;
  const replayed = replayTurn({ ...turn, ...omitUndefined({ model }) }, { isSealed: true });
  if (isWaiting) {
    const status = { type: "status", conversationId, status: "active" } as const;
    return [...replayed, { ...status, waiting: { turnId, count: 1, kinds: [] } }];
  }
  const reason = (metrics?.reason ?? "stop") as TurnReason;
  return [
    ...replayed,
    ...closingEvents({ conversationId, turnId, reason, metrics }),
    sealedEvent({ conversationId, turnId, firstSeq: 0, lastSeq: 0, reason }),
  ];
}

function decisionsIn(rows: readonly Row[]): Map<string, ShownDecision> {
  const decisions = new Map<string, ShownDecision>();
  for (const { chunks } of rows) {
    for (const chunk of chunks) {
      if (chunk.type !== "system" || chunk.input?.type !== "input-response") continue;
      const { requestId, decision, note: reason } = chunk.input;
      decisions.set(requestId, { approved: decision === "allow", ...omitUndefined({ reason }) });
    }
  }
  return decisions;
}

/** Type of the data that keeps the metadata of a user's message in the log. */
export const userMetadataType = "message-metadata";

function userMessage({ conversationId }: HistorySource, { id, chunks }: Row): UiMessage {
  let metadata: object | undefined;
  const parts = chunks.flatMap((chunk): UiPart[] => {
    if (chunk.type === "text" && chunk.file !== undefined)
      return [storedFilePart(conversationId, chunk.file)];
    if (chunk.type === "text" && chunk.inline !== undefined) return [filePart(chunk.inline)];
    if (chunk.type === "text") return [{ type: "text", text: chunk.text }];
    if (chunk.type !== "data") return [];
    const data = chunk.data as Partial<UiPart> | null;
    if (data?.type === userMetadataType) metadata = data.metadata as object;
    return data?.type?.startsWith("data-") ? [data as UiPart] : [];
  });
  return { id, role: "user", parts, ...omitUndefined({ metadata }) };
}

/** Makes a file part with the address under which this server serves it to callers that may read the conversation. */
function storedFilePart(conversationId: string, { seq = 0, name, mediaType }: FileReference): UiPart {
  const url = fileAddress(conversationId, seq);
  return { type: "file", mediaType, url, ...omitUndefined({ filename: name }) };
}

/** Returns the files that the model and its tools returned. */
function filesIn({ conversationId }: HistorySource, rows: readonly Row[]): UiPart[] {
  return rows.flatMap(({ role, chunks }) =>
    chunks.flatMap((chunk): UiPart[] => {
      if (role === "user" || chunk.type !== "text" || chunk.file === undefined) return [];
      return [storedFilePart(conversationId, chunk.file)];
    }),
  );
}

function filePart({ mediaType, url, data = "", filename }: InlineFile): UiPart {
  const address = url ?? `data:${mediaType};base64,${data}`;
  return { type: "file", mediaType, url: address, ...omitUndefined({ filename }) };
}

/** Assembles the chunks of each message. */
function rowsOf(chunks: readonly StoredChunk[]): Row[] {
  const rows: (Row & { chunks: Chunk[] })[] = [];
  for (const { messageId = "", role, turnId, stepId, createdAt = 0, chunk } of chunks) {
    const last = rows.at(-1);
    if (last !== undefined && last.id === messageId && last.turnId === turnId) last.chunks.push(chunk);
    else rows.push({ id: messageId, role, turnId, stepId, createdAt, chunks: [chunk] });
  }
  return rows;
}

function groupByTurn(rows: readonly Row[]): Row[][] {
  const groups: Row[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last !== undefined && last[0]?.turnId === row.turnId) last.push(row);
    else groups.push([row]);
  }
  return groups;
}
