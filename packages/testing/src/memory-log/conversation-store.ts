import type { IdFactory } from "@parley/core/messages";
import {
  type Conversation,
  type ConversationId,
  type ConversationMessage,
  checkPlain,
  requireConversationId,
  titleOf,
} from "@parley/core/messages";
import type { ConversationTurn, ListConversationsOptions, ListMessagesOptions } from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import type { TurnReason } from "@parley/wire";
import {
  addLog,
  appendRow,
  checkFigures,
  checkMessages,
  checkNewId,
  findLog,
  invalid,
  isListed,
  type Log,
  logOf,
  type MemoryDatabase,
  ownerOf,
  type Row,
  type Turn,
  touch,
} from "./database.js";
import { checkFiles } from "./files.js";
import { findRow, rowsBackwards, rowsBetween, sealedTurns } from "./view.js";
import { turnActive } from "./writes/lease.js";

function conversationOf(log: Log): Conversation {
  return {
    id: log.id,
    createdAt: new Date(log.createdAt),
    updatedAt: new Date(log.updatedAt),
    ...(log.title === "" ? {} : { title: log.title }),
    ...omitUndefined({ metadata: log.settings.metadata }),
  };
}

export function createConversation(
  db: MemoryDatabase,
  owner: string,
  input: { id?: ConversationId; title?: string; metadata?: Record<string, unknown> },
  ids: IdFactory,
): Conversation {
  const id = input.id ?? ids.next();
  const existing = findLog(db, owner, id);
  if (existing !== undefined) return conversationOf(existing);
  checkNewId(id);
  const settings = input.metadata === undefined ? {} : { metadata: input.metadata };
  return conversationOf(addLog(db, { id, owner, settings, title: input.title ?? "" }));
}

export function getConversation(db: MemoryDatabase, owner: string, id: ConversationId): Conversation | null {
  const log = findLog(db, owner, id);
  return log === undefined ? null : conversationOf(log);
}

export function updateConversation(
  db: MemoryDatabase,
  owner: string,
  id: ConversationId,
  updates: Partial<Pick<Conversation, "title" | "metadata">>,
): Conversation | null {
  const log = findLog(db, owner, id);
  if (log === undefined) return null;
  checkPlain(updates.metadata ?? {}, "metadata");
  if (updates.title !== undefined) log.title = updates.title;
  if (updates.metadata !== undefined) log.settings = { ...log.settings, metadata: updates.metadata };
  touch(db, log);
  return conversationOf(log);
}

export function listConversations(
  db: MemoryDatabase,
  owner: string,
  options: ListConversationsOptions = {},
): Conversation[] {
  const before = options.before?.getTime() ?? Number.POSITIVE_INFINITY;
  return [...ownerOf(db, owner).logs.values()]
    .filter((log) => isListed(log) && log.updatedAt < before)
    .sort((left, right) => right.changedAt - left.changedAt)
    .slice(0, Math.max(0, options.limit ?? 50))
    .map(conversationOf);
}

/** Appends messages; refused while a turn runs, because its rows would be separated. */
export function appendMessages(
  db: MemoryDatabase,
  owner: string,
  messages: readonly ConversationMessage[],
): void {
  const fresh = new Map<string, { log: Log; message: ConversationMessage }>();
  const { messages: holders } = ownerOf(db, owner);
  for (const message of messages) {
    requireConversationId(message);
    const log = logOf(db, owner, message.conversationId);
    checkMessages([message], log.id);
    const before = fresh.get(message.id)?.log;
    if (before === log || (before === undefined && findRow(log, message.id) !== undefined)) continue;
    if (before !== undefined || holders.has(message.id)) {
      throw invalid("The id of this message is used in another conversation", { id: message.id });
    }
    if (log.active !== undefined) throw turnActive(log);
    fresh.set(message.id, { log, message });
  }
  checkFiles(
    db,
    owner,
    [...fresh.values()].map(({ message }) => message),
  );
  for (const { log, message } of fresh.values()) {
    if (log.title === "") log.title = titleOf([message]);
    appendRow(db, log, message);
    log.sealedSeq = log.lastSeq;
    touch(db, log);
  }
}

export function listMessages(
  db: MemoryDatabase,
  owner: string,
  id: ConversationId,
  options: ListMessagesOptions = {},
): ConversationMessage[] {
  const log = findLog(db, owner, id);
  if (log === undefined) return [];
  const limit = Math.max(0, options.limit ?? Number.MAX_SAFE_INTEGER);
  const rows =
    options.ascending === false ? newestRows(log, limit) : rowsBetween(log, 1, log.lastSeq).slice(0, limit);
  return rows.map((row) => ({ ...row.message, conversationId: id }));
}

function newestRows(log: Log, limit: number): Row[] {
  const rows: Row[] = [];
  for (const row of rowsBackwards(log)) {
    if (rows.length >= limit) break;
    rows.push(row);
  }
  return rows;
}

export function appendTurn(db: MemoryDatabase, owner: string, turn: ConversationTurn): void {
  const log = logOf(db, owner, turn.conversationId);
  const { turns } = ownerOf(db, owner);
  const holder = turns.get(turn.id);
  if (holder === log) return;
  if (holder !== undefined) {
    throw invalid("The id of this turn is used in another conversation", { id: turn.id });
  }
  if (log.active !== undefined) throw turnActive(log);
  checkPlain(turn.metadata ?? {}, "metadata");
  checkFigures(turn);
  const rows = [...turn.userMessages, ...turn.assistantMessages, ...(turn.toolMessages ?? [])]
    .map((message) => log.rowsById.get(message.id))
    .filter((row) => row !== undefined);
  const reason = turn.metadata?.reason;
  const added: Turn = {
    id: turn.id,
    ordinal: log.turns.length + 1,
    choices: {},
    startedAt: turn.createdAt.getTime(),
    firstSeq: Math.min(log.lastSeq + 1, ...rows.map((row) => row.firstSeq)),
    lastSeq: rows.length === 0 ? log.lastSeq : Math.max(...rows.map((row) => row.lastSeq)),
    steps: [],
    providerCalls: turn.providerCalls,
    waitedMs: 0,
    promotions: new Map(),
    sealed: {
      at: db.clock.now(),
      ...(typeof reason === "string" ? { reason: reason as TurnReason } : {}),
    },
    appended: turn,
  };
  log.turns.push(added);
  log.turnsById.set(turn.id, added);
  turns.set(turn.id, log);
  touch(db, log);
}

export function listTurns(db: MemoryDatabase, owner: string, id: ConversationId): ConversationTurn[] {
  const log = findLog(db, owner, id);
  return log === undefined ? [] : sealedTurns(log).map((turn) => conversationTurnOf(log, turn));
}

function conversationTurnOf(log: Log, turn: Turn): ConversationTurn {
  if (turn.appended !== undefined) return { ...turn.appended, conversationId: log.id };
  const messages = rowsBetween(log, turn.firstSeq, turn.lastSeq).map((row) => ({
    ...row.message,
    conversationId: log.id,
  }));
  const toolMessages = messages.filter((message) => message.role === "tool");
  const metrics = turn.sealed?.metrics;
  return {
    id: turn.id,
    conversationId: log.id,
    createdAt: new Date(turn.startedAt),
    userMessages: messages.filter((message) => message.role === "user"),
    assistantMessages: messages.filter((message) => message.role === "assistant"),
    ...(toolMessages.length === 0 ? {} : { toolMessages }),
    providerCalls: turn.providerCalls,
    metadata: {
      ...(turn.sealed?.reason === undefined ? {} : { reason: turn.sealed.reason }),
      ...(metrics === undefined ? {} : { usage: metrics.usage }),
      ...(metrics?.contextSize === undefined ? {} : { contextSize: metrics.contextSize }),
      ...(metrics?.durationMs === undefined ? {} : { durationMs: metrics.durationMs }),
    },
  };
}
