import { ParleyError } from "@parley/core/errors";
import {
  type CanonicalMessage,
  type ConversationMessage,
  fromCanonical,
  toCanonical,
} from "@parley/core/messages";
import type { HistoryEntry } from "@parley/core/ports";

import { idKey } from "./id-key.js";
import { originalJson, originalText, storedJson, storedText } from "./stored-text.js";

/** A message as its row holds it, before it has a place. */
export interface MessageRow {
  /** The message in Parley's own form, as it will be read. */
  readonly message: ConversationMessage;
  readonly id: string;
  readonly key: string;
  readonly role: string;
  readonly type: string;
  readonly content: string;
  readonly createdAt: string;
  readonly resourceId: string | null;
  /** How many seqs it takes: one per part. */
  readonly parts: number;
}

/** Refuses what belongs to another conversation and what is larger than a row may be. */
export function messageRow(
  message: ConversationMessage,
  conversationId: string,
  maxBytes: number,
): MessageRow {
  if (message.conversationId !== conversationId) {
    throw new ParleyError("invalid_request", "The message names another conversation", {
      details: { messageId: message.id },
    });
  }
  if (!Array.isArray(message.content)) {
    throw new ParleyError("invalid_request", "A message has a list of parts", {
      details: { messageId: message.id },
    });
  }
  return canonicalRow(toCanonical(message), maxBytes);
}

/** A message in the form in which it is stored, as any writer made it. */
export function canonicalRow(canonical: CanonicalMessage, maxBytes: number): MessageRow {
  const { id, role, type, content, createdAt, resourceId } = canonical;
  const [message, ...others] = originalMessages(canonical);
  if (message === undefined) throw new TypeError("a stored message is at least one message");
  const stored = storedText(id);
  return {
    message,
    id: stored,
    key: idKey(stored),
    role,
    type,
    content: boundedJson(content, maxBytes),
    createdAt: createdAt.toISOString(),
    resourceId: resourceId === undefined ? null : storedText(resourceId),
    parts: [message, ...others].reduce((sum, each) => sum + each.content.length, 0),
  };
}

/** JSON for a column, unless it is too large for one. */
export function boundedJson(value: unknown, maxBytes: number): string {
  const json = storedJson(value);
  // A character takes at most three bytes per code unit: most texts need not be measured.
  if (json.length * 3 > maxBytes && Buffer.byteLength(json) > maxBytes) {
    throw new ParleyError("too_large", undefined, { details: { maxBytes } });
  }
  return json;
}

/** A message names its turn by ordinal; readers know turns by id. One look into the key of turns per row. */
const turnId = "(SELECT t.id FROM conversation_turn t WHERE t.log = m.log AND t.ordinal = m.turn)";

/** The columns of a stored message, as `entriesOfRow` reads them, of a table called `m`. */
export const messageColumns = `m.id, m.role, m.type, m.content::text AS content,
  date_part('epoch', m.created_at) * 1000 AS created_ms, m.resource_id, m.first_seq, m.part_count,
  ${turnId} AS turn_id, m.step,
  m.covers_from, m.covers_to`;

/** The same as one JSON value, for statements that return many things at once. */
export const messageJson = `json_build_object('id', m.id, 'role', m.role, 'type', m.type, 'content', m.content,
  'created_ms', date_part('epoch', m.created_at) * 1000, 'resource_id', m.resource_id, 'first_seq', m.first_seq,
  'part_count', m.part_count, 'turn_id', ${turnId}, 'step', m.step, 'covers_from', m.covers_from,
  'covers_to', m.covers_to)`;

/** A message as it was read: from columns, or from JSON where texts are original and the content is a value. */
export interface ReadMessage {
  readonly id: string;
  readonly role: string;
  readonly type: string;
  readonly content: unknown;
  readonly created_ms: number;
  readonly resource_id: string | null;
  readonly first_seq: number;
  readonly part_count: number;
  readonly turn_id: string | null;
  readonly step: string | null;
  readonly covers_from: number | null;
  readonly covers_to: number | null;
}

/** A row of `messageColumns` with its texts and its content as they were given. The row itself is changed. */
export function readMessage(row: Record<string, unknown>): ReadMessage {
  row.id = originalText(row.id as string);
  row.content = originalJson(row.content as string);
  for (const column of optionalTexts) {
    const value = row[column];
    if (typeof value === "string") row[column] = originalText(value);
  }
  return row as unknown as ReadMessage;
}

const optionalTexts = ["resource_id", "turn_id", "step"] as const;

/**
 * The entries that a row stands for, as a reader of `conversationId` sees them: what a fork inherits reads as its own.
 * It is one entry for everything that Parley writes. A row that another writer saved with a call and its result in
 * one part becomes several, which share the row's seqs in order.
 */
export function entriesOf(read: ReadMessage, conversationId: string): HistoryEntry[] {
  const messages = messagesOf(read, conversationId);
  const turnId = read.turn_id ?? undefined;
  const stepId = stepOf(read.step, turnId);
  let next = read.first_seq;
  return messages.map((message) => {
    const firstSeq = next;
    next += message.content.length;
    return {
      message,
      firstSeq,
      lastSeq: next - 1,
      ...(turnId === undefined ? {} : { turnId }),
      ...(stepId === undefined ? {} : { stepId }),
      ...(read.covers_from === null || read.covers_to === null
        ? {}
        : { covers: { fromSeq: read.covers_from, toSeq: read.covers_to } }),
    };
  });
}

export function messagesOf(read: ReadMessage, conversationId: string): ConversationMessage[] {
  return originalMessages({
    id: read.id,
    threadId: conversationId,
    role: read.role as CanonicalMessage["role"],
    type: read.type as CanonicalMessage["type"],
    content: read.content as CanonicalMessage["content"],
    createdAt: new Date(Math.round(read.created_ms)),
    ...(read.resource_id === null ? {} : { resourceId: read.resource_id }),
  });
}

/**
 * The messages that a stored one was made from. Reading says `isError: false` of a result that did not say; a message
 * is given back as it was, so what its writer left out is left out again.
 */
function originalMessages(canonical: CanonicalMessage): ConversationMessage[] {
  const text = textMessage(canonical);
  if (text !== undefined) return [text];
  const messages = fromCanonical(canonical);
  const [message, other] = messages;
  if (message?.role !== "tool" || other !== undefined) return messages;
  for (const [place, part] of message.content.entries()) {
    const stored = canonical.content.parts?.[place];
    if (part.type === "tool-result" && stored !== undefined && !("isError" in stored)) delete part.isError;
  }
  return messages;
}

/**
 * What `fromCanonical` makes of a message of nothing but text, which most messages of a window are, at a fraction of
 * the cost. Undefined for anything else.
 */
function textMessage(canonical: CanonicalMessage): ConversationMessage | undefined {
  const { parts, metadata, providerMetadata, format, ...unknown } = canonical.content;
  if (format !== 2 || !Array.isArray(parts) || parts.length === 0) return undefined;
  for (const key in unknown) if (key !== "") return undefined;
  if (!isPlain(metadata) || !isPlain(providerMetadata)) return undefined;
  for (const part of parts) {
    if (part?.type !== "text" || typeof part.text !== "string" || !isPlain(part.providerMetadata))
      return undefined;
  }
  return {
    id: canonical.id,
    conversationId: canonical.threadId,
    role: canonical.role,
    createdAt: canonical.createdAt,
    content: parts as ConversationMessage["content"],
    ...(metadata === undefined ? {} : { metadata }),
    ...(providerMetadata === undefined ? {} : { providerMetadata }),
    ...(canonical.resourceId === undefined ? {} : { resourceId: canonical.resourceId }),
  };
}

function isPlain(value: unknown): boolean {
  return value === undefined || (typeof value === "object" && value !== null && !Array.isArray(value));
}

/** An entry for rows that were just written, without reading them again. */
export function entryAt(
  row: MessageRow,
  place: { firstSeq: number; turnId?: string; stepId?: string; covers?: { fromSeq: number; toSeq: number } },
): HistoryEntry {
  const { firstSeq, turnId, stepId, covers } = place;
  return {
    message: row.message,
    firstSeq,
    lastSeq: firstSeq + row.parts - 1,
    ...(turnId === undefined ? {} : { turnId }),
    ...(stepId === undefined ? {} : { stepId }),
    ...(covers === undefined ? {} : { covers }),
  };
}

/** A step's id usually begins with its turn's, which the row has already: only the rest is stored. */
export function stepMark(stepId: string | undefined, turnId: string | undefined): string | null {
  if (stepId === undefined) return null;
  const inTurn = turnId !== undefined && turnId !== "" && stepId.startsWith(turnId);
  return storedText(inTurn ? `+${stepId.slice(turnId.length)}` : `=${stepId}`);
}

function stepOf(mark: string | null, turnId: string | undefined): string | undefined {
  if (mark === null) return undefined;
  return mark.startsWith("+") ? `${turnId ?? ""}${mark.slice(1)}` : mark.slice(1);
}

/** Rows as the lists that one `unnest` takes, with the offset of each from the first row's seq. */
export function rowLists(rows: readonly MessageRow[]) {
  let total = 0;
  const offsets = rows.map(({ parts }) => {
    const offset = total;
    total += parts;
    return offset;
  });
  return {
    total,
    values: [
      rows.map((row) => row.id),
      rows.map((row) => row.role),
      rows.map((row) => row.type),
      rows.map((row) => row.content),
      rows.map((row) => row.createdAt),
      rows.map((row) => row.resourceId),
      offsets,
      rows.map((row) => row.parts),
      rows.map((row) => row.key),
    ] as const,
  };
}

/**
 * The rows `m` of a conversation whose ids are in a list. One look into the index of ids after the other: for a list
 * as a whole the planner may choose to read the table, as long as it believes it small. It does not see how long the
 * list is: if it did, a plan for a short one would look so much cheaper than one for any that it would plan each time.
 */
export function rowsById(ids: string, keys: string, conversationId: string): string {
  return `unnest((SELECT ${ids}::text[]), ${keys}::int8[]) AS wanted(id, key)
    CROSS JOIN LATERAL (
      SELECT * FROM conversation_message r
      WHERE r.id_key = wanted.key AND r.id = wanted.id AND r.thread_id = ${conversationId} LIMIT 1
    ) AS m`;
}
