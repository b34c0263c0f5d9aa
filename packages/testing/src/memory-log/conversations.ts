import { invalidField, ParleyError } from "@parley/core/errors";
import type { ConversationId } from "@parley/core/messages";
import { checkPlain } from "@parley/core/messages";
import type {
  Changes,
  ConversationRecord,
  ConversationSettings,
  LogNumber,
  LogStore,
  News,
  NewsQuery,
} from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import {
  addLog,
  checkNewId,
  findLog,
  isListed,
  type Log,
  logOf,
  type MemoryDatabase,
  ownerOf,
  touch,
} from "./database.js";
import { recordOf, statusOf } from "./record.js";

export function create(
  db: MemoryDatabase,
  owner: string,
  input: { id: ConversationId; settings: ConversationSettings },
): { conversation: ConversationRecord; created: boolean } {
  const existing = findLog(db, owner, input.id);
  if (existing !== undefined) return { conversation: recordOf(db, existing), created: false };
  checkNewId(input.id);
  const { settings } = input;
  const log = addLog(db, { id: input.id, owner, settings, title: settings.title ?? "" });
  return { conversation: recordOf(db, log), created: true };
}

export function get(db: MemoryDatabase, owner: string, id: ConversationId): ConversationRecord | null {
  const log = findLog(db, owner, id);
  return log === undefined ? null : recordOf(db, log);
}

export function list(
  db: MemoryDatabase,
  owner: string,
  query: Parameters<LogStore["list"]>[0],
): { conversations: ConversationRecord[]; next?: string } {
  const isPinnedFirst = query.pinnedFirst === true;
  const placeOf = (log: Log): Place => ({
    isPinned: isPinnedFirst && log.settings.pinned === true,
    at: log.lastActivityAt,
    id: log.id,
  });
  const start = query.before === undefined ? undefined : parsePlace(query.before, isPinnedFirst);
  const words = query.q?.toLowerCase();
  const parent = query.parent === undefined ? undefined : findLog(db, owner, query.parent);
  const found = [...ownerOf(db, owner).logs.values()]
    .filter((log) => (query.parent === undefined ? isListed(log) : log.archiveOf === undefined))
    .filter(
      (log) =>
        query.parent === undefined ||
        log.importedParent?.id === query.parent ||
        (parent === undefined ? log.parent?.log.id === query.parent : log.parent?.log === parent),
    )
    .filter((log) => query.status === undefined || query.status.includes(statusOf(log)))
    .filter(
      (log) =>
        words === undefined ||
        log.id.toLowerCase().startsWith(words) ||
        log.title.toLowerCase().includes(words),
    )
    .filter(
      ({ settings, lastModel }) =>
        query.model === undefined || (settings.model ?? lastModel ?? query.defaultModel) === query.model,
    )
    .filter((log) => query.withoutOrigin === undefined || originOf(log) !== query.withoutOrigin)
    .filter((log) => start === undefined || newestFirst(start, placeOf(log)) < 0)
    .sort((left, right) => newestFirst(placeOf(left), placeOf(right)));
  const page = found.slice(0, Math.max(0, query.limit));
  const last = page.at(-1);
  return {
    conversations: page.map((log) => recordOf(db, log)),
    ...(last === undefined || page.length === found.length ? {} : { next: placeText(placeOf(last)) }),
  };
}

/** Returns the origin of a conversation, if its metadata contains one. */
export function originOf({ settings }: Log): unknown {
  return (settings.metadata?.parley as { origin?: unknown } | undefined)?.origin;
}

/** Place of a conversation in a list: by its pin if that counts, its last activity, and by id among equals. */
interface Place {
  readonly isPinned: boolean;
  readonly at: number;
  readonly id: ConversationId;
}

function placeText({ isPinned, at, id }: Place): string {
  return `${isPinned ? "pinned~" : ""}${at}~${id}`;
}

function newestFirst(left: Place, right: Place): number {
  if (left.isPinned !== right.isPinned) return left.isPinned ? -1 : 1;
  if (left.at !== right.at) return right.at - left.at;
  return left.id === right.id ? 0 : left.id > right.id ? -1 : 1;
}

function parsePlace(text: string, isPinnedFirst: boolean): Place {
  const match = /^(pinned~)?(\d+)~(.+)$/.exec(text);
  const [, pin, at, id] = match ?? [];
  if (at === undefined || id === undefined || (pin !== undefined && !isPinnedFirst))
    throw invalidField("before", "not a `nextBefore` of this list");
  return { isPinned: pin !== undefined, at: Number(at), id };
}

export function set(
  db: MemoryDatabase,
  owner: string,
  id: ConversationId,
  changes: Parameters<LogStore["set"]>[1],
): ConversationRecord {
  const log = logOf(db, owner, id);
  const { closed, title, ...others } = changes;
  if (closed === false && log.archiveOf !== undefined) {
    throw new ParleyError("conversation_closed", "An archive stays closed");
  }
  checkPlain(others.metadata ?? {}, "metadata");
  const settings: Record<string, unknown> = { ...log.settings };
  for (const [name, value] of Object.entries(others)) {
    if (value === null) delete settings[name];
    else if (value !== undefined) settings[name] = value;
  }
  log.settings = settings as ConversationSettings;
  if (title !== undefined) log.title = title ?? "";
  if (closed !== undefined) log.closed = closed;
  if (closed === true && log.queue.length > 0) log.queuePaused = true;
  for (const archive of log.forks) {
    if (archive.archiveOf !== log.id) continue;
    const { temporary: _, ...rest } = archive.settings;
    archive.settings = { ...rest, ...omitUndefined({ temporary: log.settings.temporary }) };
  }
  touch(db, log);
  return recordOf(db, log);
}

export function changed(
  db: MemoryDatabase,
  owner: string,
  query: { since?: number; limit: number },
): Changes {
  const { logs, lastChange, notices } = ownerOf(db, owner);
  const { since } = query;
  if (since === undefined) return { conversations: [], notices: [], last: lastChange };
  const changes = [...logs.values()]
    .filter((log) => log.archiveOf === undefined)
    .map((log) => ({ changedAt: log.changedAt, log }));
  const words = notices.map(({ notice }) => ({ changedAt: notice.changedAt, notice }));
  const page = [...changes, ...words]
    .filter(({ changedAt }) => changedAt > since)
    .sort((left, right) => left.changedAt - right.changedAt)
    .slice(0, Math.max(0, query.limit));
  return {
    conversations: page.flatMap((each) => ("log" in each ? [recordOf(db, each.log)] : [])),
    notices: page.flatMap((each) => ("notice" in each ? [each.notice] : [])),
    last: page.at(-1)?.changedAt ?? since,
  };
}

export function news(db: MemoryDatabase, query: NewsQuery): News {
  return {
    owners: query.owners
      .filter(({ owner, since, published = [] }) => {
        const { lastChange, logs, notices } = ownerOf(db, owner);
        if (lastChange <= since) return false;
        if (notices.some(({ notice }) => notice.changedAt > since)) return true;
        return [...logs.values()].some(
          ({ changedAt, archiveOf }) =>
            changedAt > since && archiveOf === undefined && !published.includes(changedAt),
        );
      })
      .map(({ owner }) => owner),
    conversations: query.conversations
      .filter(({ log: number, owner, seq }) => {
        const log = db.logs.get(number);
        const isRunning = log?.active !== undefined && log.active.waitingSince === undefined;
        return log?.owner !== owner || isRunning || log.lastSeq > seq;
      })
      .map(({ log }) => log),
  };
}

export function locate(
  db: MemoryDatabase,
  number: LogNumber,
): { owner: string; conversationId: ConversationId } | null {
  const log = db.logs.get(number);
  return log === undefined ? null : { owner: log.owner, conversationId: log.id };
}
