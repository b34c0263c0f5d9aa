import { ParleyError } from "@parley/core/errors";
import {
  type CanonicalMessage,
  type ConversationMessage,
  type CountedTokens,
  countForRow,
  fromCanonical,
  isStoredFile,
  toCanonical,
} from "@parley/core/messages";
import type { HistoryEntry } from "@parley/core/ports";

import { idKey, messageIs } from "./id-key.js";
import { ownParts } from "./own-parts.js";
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
  /** Number of seqs that it takes: one per part. */
  readonly parts: number;
  /** Absent for a row that represents several messages. */
  readonly tokens: CountedTokens | undefined;
  /** The parts that refer to bytes in the store, by their places among all parts. */
  readonly files: readonly { readonly place: number; readonly hash: string }[];
}

/** Creates a row. Refuses a message of another conversation and one that is larger than a row may be. */
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

/** Creates the row of a message in its stored form, from any writer. */
export function canonicalRow(canonical: CanonicalMessage, maxBytes: number): MessageRow {
  const { id, role, type, content, createdAt, resourceId } = canonical;
  const messages = originalMessages(canonical);
  const [message] = messages;
  if (message === undefined) throw new TypeError("a stored message is at least one message");
  let parts = 0;
  for (const each of messages) parts += each.content.length;
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
    parts,
    tokens: messages.length === 1 ? countForRow(message) : undefined,
    files: filesOf(messages),
  };
}

function filesOf(messages: readonly ConversationMessage[]): MessageRow["files"] {
  let files: { place: number; hash: string }[] | undefined;
  let place = 0;
  for (const { content } of messages) {
    for (const part of content) {
      if (part.type === "file" && isStoredFile(part)) {
        files ??= [];
        files.push({ place, hash: part.hash });
      }
      place += 1;
    }
  }
  return files ?? noFiles;
}

const noFiles: MessageRow["files"] = [];

/** Returns true if a row refers to files: only the statements of the slow paths write those. */
export function hasFiles({ files }: MessageRow): boolean {
  return files.length > 0;
}

/** Returns JSON for a column. Refuses a value that is too large for one. */
export function boundedJson(value: unknown, maxBytes: number): string {
  const json = storedJson(value);
  // A character takes at most three bytes per code unit: most texts need not be measured.
  if (json.length * 3 > maxBytes && Buffer.byteLength(json) > maxBytes) {
    throw new ParleyError("too_large", undefined, { details: { maxBytes } });
  }
  return json;
}

/** A message names its turn by ordinal; readers know turns by id. One lookup in the key of turns per row. */
const turnId = "(SELECT t.id FROM parley.conversation_turn t WHERE t.log = m.log AND t.ordinal = m.turn)";

/** The columns of a stored message, as `entriesOfRow` reads them, of a table called `m`. */
export const messageColumns = `m.id, m.role, m.type, m.content::text AS content,
  date_part('epoch', m.created_at) * 1000 AS created_ms, m.resource_id, m.first_seq, m.part_count,
  ${turnId} AS turn_id, m.step,
  m.covers_from, m.covers_to, m.tokens, m.token_rule`;

/** The same columns as one JSON value, for statements that return several things at once. */
export const messageJson = `json_build_object('id', m.id, 'role', m.role, 'type', m.type, 'content', m.content,
  'created_ms', date_part('epoch', m.created_at) * 1000, 'resource_id', m.resource_id, 'first_seq', m.first_seq,
  'part_count', m.part_count, 'turn_id', ${turnId}, 'step', m.step, 'covers_from', m.covers_from,
  'covers_to', m.covers_to, 'tokens', m.tokens, 'token_rule', m.token_rule)`;

/** A message as it was read: from columns, or from JSON, where texts are original and the content is a value. */
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
  readonly tokens: number | null;
  readonly token_rule: number | null;
}

/** Reads a row of `messageColumns`, with its texts and its content as they were given. Changes the row itself. */
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
 * Returns the entries that a row represents, as a reader of `conversationId` sees them: what a fork inherits reads as
 * its own. It is one entry for everything that Parley writes. A row that another writer saved with a call and its
 * result in one part becomes several, which share the row's seqs in order.
 */
export function entriesOf(read: ReadMessage, conversationId: string): HistoryEntry[] {
  const messages = messagesOf(read, conversationId);
  const turnId = read.turn_id ?? undefined;
  const { covers_from: fromSeq, covers_to: toSeq } = read;
  const place = {
    turnId,
    stepId: stepOf(read.step, turnId),
    covers: fromSeq === null || toSeq === null ? undefined : { fromSeq, toSeq },
    tokens: messages.length === 1 ? tokensOf(read) : undefined,
  };
  let next = read.first_seq;
  return messages.map((message) => {
    const firstSeq = next;
    next += message.content.length;
    return entry(message, firstSeq, next - 1, place);
  });
}

function tokensOf({ tokens: count, token_rule: rule }: ReadMessage): CountedTokens | undefined {
  return count === null || rule === null ? undefined : { rule, count };
}

interface EntryPlace {
  readonly turnId?: string | undefined;
  readonly stepId?: string | undefined;
  readonly covers?: { fromSeq: number; toSeq: number } | undefined;
}

/**
 * Creates an entry. Fields are assigned one by one: object spread costs several times as much, and a window has many.
 */
function entry(
  message: ConversationMessage,
  firstSeq: number,
  lastSeq: number,
  { turnId, stepId, covers, tokens }: EntryPlace & { readonly tokens?: CountedTokens | undefined },
): HistoryEntry {
  const made: HistoryEntry = { message, firstSeq, lastSeq };
  if (turnId !== undefined) made.turnId = turnId;
  if (stepId !== undefined) made.stepId = stepId;
  if (covers !== undefined) made.covers = covers;
  if (tokens !== undefined) made.tokens = tokens;
  return made;
}

export function messagesOf(read: ReadMessage, conversationId: string): ConversationMessage[] {
  const canonical: CanonicalMessage = {
    id: read.id,
    threadId: conversationId,
    role: read.role as CanonicalMessage["role"],
    type: read.type as CanonicalMessage["type"],
    content: read.content as CanonicalMessage["content"],
    createdAt: new Date(Math.round(read.created_ms)),
  };
  if (read.resource_id !== null) canonical.resourceId = read.resource_id;
  return originalMessages(canonical);
}

/**
 * Returns the messages that a stored one was made from. Reading sets `isError: false` on a result that did not have it;
 * a message is returned as it was, so what its writer left out is left out again.
 */
function originalMessages(canonical: CanonicalMessage): ConversationMessage[] {
  const own = ownMessage(canonical);
  if (own !== undefined) return [own];
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
 * Returns the output of `fromCanonical` for a message whose parts are all as Parley stores them. Undefined for any
 * other.
 */
function ownMessage(canonical: CanonicalMessage): ConversationMessage | undefined {
  const { content, role } = canonical;
  for (const key in content) if (!contentFields.has(key)) return undefined;
  const { parts, metadata, providerMetadata } = content;
  if (content.format !== 2 || !Array.isArray(parts) || parts.length === 0) return undefined;
  if (!isRecordOrAbsent(metadata) || !isRecordOrAbsent(providerMetadata)) return undefined;
  const own = ownParts(parts, role);
  if (own === undefined) return undefined;
  const message: ConversationMessage = {
    id: canonical.id,
    conversationId: canonical.threadId,
    role,
    createdAt: canonical.createdAt,
    content: own,
  };
  if (metadata !== undefined) message.metadata = metadata;
  if (providerMetadata !== undefined) {
    message.providerMetadata = providerMetadata as NonNullable<ConversationMessage["providerMetadata"]>;
  }
  if (canonical.resourceId !== undefined) message.resourceId = canonical.resourceId;
  return message;
}

const contentFields = new Set(["format", "parts", "metadata", "providerMetadata"]);

function isRecordOrAbsent(value: unknown): boolean {
  return value === undefined || (typeof value === "object" && value !== null && !Array.isArray(value));
}

/** Creates an entry for rows that were just written, without reading them again. */
export function entryAt(row: MessageRow, place: EntryPlace & { readonly firstSeq: number }): HistoryEntry {
  const { message, parts, tokens } = row;
  return entry(message, place.firstSeq, place.firstSeq + parts - 1, { ...place, tokens });
}

/**
 * Returns a step's id in its stored form. It usually begins with its turn's id, which the row has already: only the
 * rest is stored.
 */
export function stepMark(stepId: string | undefined, turnId: string | undefined): string | null {
  if (stepId === undefined) return null;
  const inTurn = turnId !== undefined && turnId !== "" && stepId.startsWith(turnId);
  return storedText(inTurn ? `+${stepId.slice(turnId.length)}` : `=${stepId}`);
}

/** Returns the step that `stepMark` was given. */
export function stepOf(mark: string | null, turnId: string | undefined): string | undefined {
  if (mark === null) return undefined;
  return mark.startsWith("+") ? `${turnId ?? ""}${mark.slice(1)}` : mark.slice(1);
}

/** Converts rows to the lists that one `unnest` takes, with the offset of each from the first row's seq. */
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
      rows.map((row) => row.tokens?.count ?? null),
      rows.map((row) => row.tokens?.rule ?? null),
    ] as const,
  };
}

/**
 * Selects the rows `m` of a log whose ids are in a list, by one index lookup after the other: for a list as a whole the
 * planner may choose to read the table, as long as it considers the table small. It does not see how long the list is:
 * if it did, a plan for a short one would look so much cheaper than a generic one that it would plan each time.
 */
export function rowsById(ids: string, keys: string, log: string): string {
  return `unnest((SELECT ${ids}::text[]), ${keys}::int8[]) AS wanted(id, key)
    CROSS JOIN LATERAL (
      SELECT * FROM parley.conversation_message m WHERE ${messageIs("wanted.id", "wanted.key", log)} LIMIT 1
    ) AS m`;
}
