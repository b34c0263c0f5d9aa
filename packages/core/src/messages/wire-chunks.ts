import { fileChunk, inlineFileChunk, inputChunk, omitUndefined, outputChunk, userText } from "@parley/fold";
import type {
  ChatMessage,
  Chunk,
  InlineFile,
  InputEntry,
  OutputInvalidEntry,
  StepId,
  StoredChunk,
} from "@parley/wire";
import { isOwnMessage, normalizeEnvelope, normalizeMessage } from "./canonical/normalize-message.js";
import { type Fields, isFields, normalizePart, type PartPlace } from "./canonical/normalize-part.js";
import { inputEntryOf } from "./input-entry.js";
import { type ConversationMessage, type MessageRole, textOf } from "./message.js";
import { outputEntryOf } from "./output-entry.js";
import {
  argumentsTextOf,
  type FileContentPart,
  isStoredFile,
  type MessageContentPart,
  resultTextOf,
  type StoredFilePart,
} from "./part.js";
import { stableValue } from "./text/stable-value.js";

/**
 * Converts a message to chunks, one per part and in order; at least one. On Parley's own form nothing of the parts is
 * lost. The envelope's metadata is not sent: it belongs to the server.
 */
export function toChunks(message: ConversationMessage): Chunk[] {
  const own = isOwnMessage(message) ? message : normalizeMessage(message);
  return own.content.map((part) => toChunk(part, own.role));
}

/** Returns the text of a user message for clients that are shown no parts: with a line for each file. */
export function shownText(message: ConversationMessage): string {
  return message.content.some(isStoredFile) ? userText(toChunks(message)) : textOf(message);
}

/** Place of a message in its log. */
export interface ChunkPlace {
  /** The seq of the message's first part. */
  readonly firstSeq: number;
  readonly turnId?: string;
  readonly stepId?: string;
  /** Set on a compaction's summary: the seqs it covers. */
  readonly covers?: { readonly fromSeq: number; readonly toSeq: number };
}

/** Converts a message to chunks at their place in the log: the part with index i has the seq `firstSeq + i`. */
export function toStoredChunks(message: ConversationMessage, place: ChunkPlace): StoredChunk[] {
  const own = isOwnMessage(message) ? message : normalizeMessage(message);
  const { id: messageId, role, content } = own;
  const createdAt = own.createdAt.getTime();
  const partCount = content.length;
  const { turnId } = place;
  const stepId = place.stepId as StepId | undefined;
  return content.map((part, partIndex) => {
    const seq = place.firstSeq + partIndex;
    const chunk = placed(toChunk(part, role), place, seq);
    // A step made it in almost all cases; this avoids assembling it from pieces.
    if (turnId !== undefined && stepId !== undefined)
      return { seq, role, chunk, messageId, turnId, stepId, createdAt, partIndex, partCount };
    return {
      seq,
      role,
      chunk,
      messageId,
      ...omitUndefined({ turnId, stepId }),
      createdAt,
      partIndex,
      partCount,
    };
  });
}

function placed(chunk: Chunk, { covers }: ChunkPlace, seq: number): Chunk {
  if (chunk.type === "text" && chunk.file !== undefined) return { ...chunk, file: { seq, ...chunk.file } };
  if (covers === undefined || chunk.type !== "system") return chunk;
  return { ...chunk, covers: { firstSeq: covers.fromSeq, lastSeq: covers.toSeq } };
}

/**
 * Returns the messages of stored chunks, in Parley's own form, ordered by seq; a repeated seq counts once. A window
 * that begins or ends inside a message gives a message with the parts it has. Chunks without a message id, as other
 * servers send them, are one message as long as the role stays the same.
 */
export function fromChunks(
  chunks: readonly StoredChunk[],
  options: { readonly conversationId: string },
): ConversationMessage[] {
  const messages: ConversationMessage[] = [];
  let group: StoredChunk[] = [];
  const close = () => {
    const message = fromGroup(group, options.conversationId);
    if (message !== undefined) messages.push(message);
    group = [];
  };
  for (const stored of chunks.toSorted((left, right) => left.seq - right.seq)) {
    const last = group.at(-1);
    if (last?.seq === stored.seq) continue;
    if (last !== undefined && !continues(last, stored)) close();
    group.push(stored);
  }
  close();
  return messages;
}

function continues(last: StoredChunk, next: StoredChunk): boolean {
  if (next.role !== last.role || next.messageId !== last.messageId) return false;
  return next.messageId !== undefined || next.partIndex !== 0;
}

function fromGroup(group: readonly StoredChunk[], conversationId: string): ConversationMessage | undefined {
  const [first] = group;
  if (first === undefined) return undefined;
  const id = first.messageId ?? `${conversationId}:${first.seq}`;
  const parts = group.map(({ chunk, partIndex, seq }) =>
    fromChunk(chunk, { messageId: id, index: partIndex ?? seq - first.seq }),
  );
  return normalizeEnvelope({ conversationId, role: first.role, createdAt: first.createdAt }, id, parts);
}

/** Returns the message as role and chunks alone. */
export function toChatMessage(message: ConversationMessage): ChatMessage {
  const own = isOwnMessage(message) ? message : normalizeMessage(message);
  return { role: own.role, chunks: toChunks(own) };
}

/** Builds a message from a role and chunks, in an envelope of the caller. */
export function fromChatMessage(
  message: ChatMessage,
  envelope: Pick<ConversationMessage, "id" | "conversationId" | "createdAt"> &
    Partial<Pick<ConversationMessage, "metadata" | "providerMetadata" | "resourceId">>,
): ConversationMessage {
  const parts = message.chunks.map((chunk, index) => fromChunk(chunk, { messageId: envelope.id, index }));
  return normalizeEnvelope({ ...envelope, role: message.role }, envelope.id, parts);
}

function toChunk(part: MessageContentPart, role: MessageRole): Chunk {
  switch (part.type) {
    case "text": {
      const { type, text, ...rest } = part;
      return { type: role === "system" ? "system" : type, text, ...rest };
    }
    case "reasoning": {
      const { type: _, text, durationMs, ...rest } = part;
      return { type: "thinking", text, ...omitUndefined({ durationMs }), ...rest };
    }
    case "tool-call": {
      const { name, arguments: input, argumentsText: _, toolCallId = "", stepId, ...rest } = part;
      return {
        ...rest,
        toolCallId,
        toolName: name,
        input,
        argumentsText: argumentsTextOf(part),
        ...(stepId === undefined ? {} : { stepId: stepId as StepId }),
      };
    }
    case "tool-result": {
      // The value is left out: it is derived from the text, and would double what is sent.
      const { name, result: _, resultText: _text, toolCallId = "", isError = false, stepId, ...rest } = part;
      return {
        ...rest,
        toolCallId,
        toolName: name,
        content: resultTextOf(part),
        isError,
        ...(stepId === undefined ? {} : { stepId: stepId as StepId }),
      };
    }
    case "metadata": {
      const input = role === "system" ? inputEntryOf(part) : undefined;
      const output = role === "system" ? outputEntryOf(part) : undefined;
      const { type: _, data: _data, ...rest } = part;
      if (input !== undefined) return { ...inputChunk(stableValue(input) as InputEntry), ...rest };
      if (output !== undefined) return { ...outputChunk(stableValue(output) as OutputInvalidEntry), ...rest };
      return { ...part, type: "data" };
    }
    case "file":
      return isStoredFile(part) ? storedFileChunk(part) : unstoredFileChunk(part);
    case "source":
    case "error": {
      const { type, ...rest } = part;
      return { type, ...inOrder(rest) } as Chunk;
    }
  }
}

function storedFileChunk(part: StoredFilePart): Chunk {
  const { type: _, mediaType, size, hash, filename: name, data: _data, width, height, ...rest } = part;
  const file = { ...omitUndefined({ name }), mediaType, size, hash, ...omitUndefined({ width, height }) };
  return { ...fileChunk(file), ...inOrder(rest) };
}

function unstoredFileChunk({ type: _, providerMetadata, ...file }: FileContentPart): Chunk {
  const inline = inOrder(file as unknown as Fields) as unknown as InlineFile;
  return { ...inlineFileChunk(inline), ...omitUndefined({ providerMetadata }) };
}

/**
 * Sorts the fields by name: a database may return a part's fields in another order than they were written in, and a
 * chunk has to be the same bytes before and after it was stored.
 */
function inOrder(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function fromChunk(chunk: Chunk, place: PartPlace): MessageContentPart {
  if (!isFields(chunk)) return normalizePart(chunk, place);
  switch (chunk.type) {
    case "text": {
      const { file, inline, text: _, ...rest } = chunk;
      if (isFields(inline)) return normalizePart({ ...rest, ...inline, type: "file" }, place);
      if (!isFields(file)) return normalizePart(chunk, place);
      // The text is made from the reference, and its place is that of its chunk.
      const { name: filename, mediaType, size, hash, width, height } = file;
      const known = omitUndefined({ filename, width, height });
      const part = { ...rest, type: "file", mediaType, size, hash, ...known };
      return isStoredFile(part) ? normalizePart(part, place) : normalizePart(chunk, place);
    }
    case "system": {
      // The range that a summary covers is stored beside its message, not in it.
      const { covers: _, input, output, ...rest } = chunk;
      const data = input ?? output;
      if (data === undefined) return normalizePart({ ...rest, type: "text" }, place);
      // The text is made from the data.
      const { text: _text, ...others } = rest;
      return normalizePart({ ...others, type: "metadata", data }, place);
    }
    case "thinking":
      return normalizePart({ ...chunk, type: "reasoning" }, place);
    case "tool-call": {
      const { toolName, input, ...rest } = chunk;
      return normalizePart({ ...rest, name: toolName, arguments: input }, place);
    }
    case "tool-result": {
      const { toolName, content, ...rest } = chunk;
      return normalizePart({ ...rest, name: toolName, resultText: content }, place);
    }
    case "data":
      return normalizePart({ ...chunk, type: "metadata" }, place);
    default:
      return normalizePart(chunk, place);
  }
}
