import type { Clock } from "@parley/core";
import { invalidField, ParleyError } from "@parley/core/errors";
import type { ConversationId, ConversationMessage, CountedTokens, TurnId } from "@parley/core/messages";
import { checkPlain, countForRow, isPlain, toCanonical } from "@parley/core/messages";
import type {
  ApiKeyRecord,
  ConversationNotice,
  ConversationSettings,
  ConversationTurn,
  GrantRecord,
  HistoryEntry,
  ImportInput,
  InputRecord,
  JournalBatch,
  LoginRecord,
  LogNumber,
  ProviderCallRecord,
  QueueEntry,
  SealedSecret,
  TurnChoices,
} from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import type { StepMetrics, TurnMetrics, TurnReason } from "@parley/wire";

import type { Delivery, Endpoint } from "./delivery.js";
import { noFiles, type OwnerFiles } from "./owner-files.js";
import { report } from "./report.js";
import type { UsageEntry } from "./usage.js";

/** A message at its place. Never changed once it is there. */
export interface Row {
  readonly message: ConversationMessage;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly turnId?: TurnId;
  readonly stepId?: string;
  readonly covers?: { fromSeq: number; toSeq: number };
  readonly tokens: CountedTokens;
}

export interface Turn {
  readonly id: TurnId;
  readonly ordinal: number;
  readonly choices: TurnChoices;
  readonly startedAt: number;
  firstSeq: number;
  lastSeq: number;
  steps: StepMetrics[];
  providerCalls: ProviderCallRecord[];
  /** Time that it has waited, up to the last time that it continued. */
  waitedMs: number;
  /** Rows that each commit promoted, by the commit's last message id: a repeated commit returns the same. */
  readonly promotions: Map<string, Row[]>;
  sealed?: {
    readonly at: number;
    /** Absent if the turn was appended as a whole. */
    readonly fence?: number;
    readonly reason?: TurnReason;
    readonly metrics?: TurnMetrics;
    /** Rows that the seal wrote: a repeated seal returns the same. */
    readonly rows?: readonly Row[];
    /** The turn that the same transaction opened. */
    readonly nextTurnId?: TurnId;
  };
  /** Set on a turn that `appendTurn` added. */
  readonly appended?: ConversationTurn;
}

export interface Active {
  readonly turnId: TurnId;
  readonly purpose: "turn" | "compaction";
  /** Empty while no node holds it. */
  node: string;
  fence: number;
  stopRequested: boolean;
  /** Set while the turn waits for input. */
  waitingSince?: number;
  readonly startedAt: number;
  /** Counts leases of the whole database: orders them also within a millisecond. */
  readonly order: number;
}

/** A request for input. */
export interface Input {
  record: InputRecord;
  /** True if its response has an entry in the log. */
  isLogged: boolean;
}

export interface Receipt {
  readonly bodyHash: string;
  readonly outcome: "started" | "queued";
  turnId?: TurnId;
}

export interface Compaction {
  readonly seq: number;
  /** Absent if it was imported: its archive was not imported. */
  readonly archiveId?: ConversationId;
}

/** One conversation: its head, its own rows and everything attached to it. */
export interface Log {
  /** Never reused, unlike its id. */
  readonly number: LogNumber;
  readonly id: ConversationId;
  readonly owner: string;
  readonly createdAt: number;
  /** The log this one continues, and the last seq they have in common. */
  readonly parent?: { readonly log: Log; readonly seq: number };
  /** Parent of an imported fork, as it was exported. */
  importedParent?: NonNullable<ImportInput["parent"]>;
  readonly archiveOf?: ConversationId;
  settings: ConversationSettings;
  title: string;
  closed: boolean;
  lastActivityAt: number;
  updatedAt: number;
  changedAt: number;
  /** Only rows that were written here: rows up to `parent.seq` are the parent's. */
  rows: Row[];
  readonly rowsById: Map<string, Row>;
  lastSeq: number;
  sealedSeq: number;
  /** The fence of the newest lease. Never goes back. */
  fence: number;
  /** Set to undefined when it ends: deleting a property would make the whole record slow. */
  active: Active | undefined;
  /** Batches of the open turn, in order of `firstN`. */
  journal: JournalBatch[];
  queue: QueueEntry[];
  queuePaused: boolean;
  /** Requests for input, by id. */
  inputs: Map<string, Input>;
  turns: Turn[];
  readonly turnsById: Map<TurnId, Turn>;
  readonly receipts: Map<string, Receipt>;
  /** Made here, in order. Those of ancestors are in their logs. */
  readonly compactions: Compaction[];
  /** Summaries out of force in this log, its ancestors' included, by seq. */
  readonly undone: Set<number>;
  contextSize?: number;
  /** Model of the newest turn that names one, inherited ones included. */
  lastModel?: string;
  /** Logs that continue this one, archives included. */
  readonly forks: Set<Log>;
}

interface Owner {
  readonly logs: Map<ConversationId, Log>;
  lastChange: number;
  /** In order of change, with the time of writing. */
  notices: { readonly at: number; readonly notice: ConversationNotice }[];
  /** The log in which each message and turn id was first used. */
  readonly messages: Map<string, Log>;
  readonly turns: Map<TurnId, Log>;
  /** Standing approvals, with the log in which each was given. */
  readonly grants: Map<string, { readonly grant: GrantRecord; readonly log: Log }>;
  /** Endpoints, oldest first. */
  readonly webhooks: Map<string, Endpoint>;
  /** The logs that chats were moved to. */
  readonly branches: Map<string, Log>;
  readonly files: OwnerFiles;
}

/** A node that has sent a heartbeat. */
export interface MemoryNode {
  readonly until: number;
  readonly renewal: number;
  readonly presence?: string;
}

/** State that handles on one memory database share. */
export interface MemoryDatabase {
  readonly clock: Pick<Clock, "now">;
  /** Conversations of all owners. A removed log is not among them. */
  readonly logs: Map<LogNumber, Log>;
  /** The number of the log that was added last. */
  lastLog: LogNumber;
  readonly owners: Map<string, Owner>;
  /** The nodes by their names. One that is not here is dead. */
  readonly nodes: Map<string, MemoryNode>;
  /** Heartbeats so far. */
  renewals: number;
  /** The presences of processes, as `createMemoryPresence` makes them, by their tokens. */
  readonly presences: Map<string, "held" | "ended">;
  readonly keys: Map<string, ApiKeyRecord>;
  readonly logins: Map<string, LoginRecord>;
  readonly secrets: Map<string, SealedSecret>;
  readonly secretHolds: Map<string, { readonly holder: string; readonly until: number }>;
  /** Deliveries of all owners, in the order of their numbers. */
  outbox: Delivery[];
  /** Figures of calls that no turn holds. */
  usage: UsageEntry[];
  /** Number of reported events. */
  reported: number;
  /** The logs that have an open turn or a compaction. */
  readonly leased: Set<Log>;
  leases: number;
  /** The number of the bytes that were uploaded last. */
  lastBlob: number;
  /** The id that was proposed first. */
  identity?: string;
  /** Bytes that must be removed elsewhere, with the number of their pieces. */
  readonly removedBlobs: Map<number, number>;
}

/** Creates an empty database. `clock.now` is the time that leases are measured by. */
export function createMemoryDatabase(clock: Pick<Clock, "now">): MemoryDatabase {
  return {
    clock,
    logs: new Map(),
    lastLog: 0,
    owners: new Map(),
    nodes: new Map(),
    renewals: 0,
    presences: new Map(),
    keys: new Map(),
    logins: new Map(),
    secrets: new Map(),
    secretHolds: new Map(),
    outbox: [],
    usage: [],
    reported: 0,
    leased: new Set(),
    leases: 0,
    lastBlob: 0,
    removedBlobs: new Map(),
  };
}

export function ownerOf(db: MemoryDatabase, owner: string): Owner {
  let found = db.owners.get(owner);
  if (found === undefined) {
    found = {
      logs: new Map(),
      messages: new Map(),
      turns: new Map(),
      grants: new Map(),
      branches: new Map(),
      webhooks: new Map(),
      files: noFiles(),
      lastChange: 0,
      notices: [],
    };
    db.owners.set(owner, found);
  }
  return found;
}

/** Returns true if lists and searches show a conversation. */
export function isListed({ archiveOf, settings }: Log): boolean {
  return archiveOf === undefined && settings.temporary === undefined;
}

/** Returns the owner's conversation. Another owner's is as unknown as one that never existed. */
export function findLog(db: MemoryDatabase, owner: string, id: ConversationId): Log | undefined {
  return db.owners.get(owner)?.logs.get(id);
}

export function logOf(db: MemoryDatabase, owner: string, id: ConversationId): Log {
  const log = findLog(db, owner, id);
  if (log !== undefined) return log;
  throw notFound(id);
}

function notFound(conversationId: ConversationId): ParleyError {
  return new ParleyError("conversation_not_found", undefined, { details: { conversationId } });
}

export function invalid(message: string, details?: Record<string, unknown>): ParleyError {
  return new ParleyError("invalid_request", message, details === undefined ? {} : { details });
}

const conversationIdForm = /^[A-Za-z0-9._:-]{1,128}$/;

/** Refuses an id under which no conversation can be created. */
export function checkNewId(id: ConversationId): void {
  if (conversationIdForm.test(id)) return;
  throw invalid("A conversation id has 1 to 128 characters of A-Z a-z 0-9 . _ : -");
}

export interface NewLog {
  readonly id: ConversationId;
  readonly owner: string;
  readonly settings: ConversationSettings;
  readonly title: string;
  readonly createdAt?: number;
  readonly parent?: { readonly log: Log; readonly seq: number };
  readonly archiveOf?: ConversationId;
  /** The title that it is about to get. */
  readonly reportedTitle?: string;
}

export function addLog(db: MemoryDatabase, input: NewLog): Log {
  checkPlain(input.settings.metadata ?? {}, "metadata");
  const now = db.clock.now();
  const { title: _, ...settings } = input.settings;
  const { parent } = input;
  db.lastLog += 1;
  const log: Log = {
    number: db.lastLog,
    id: input.id,
    owner: input.owner,
    createdAt: input.createdAt ?? now,
    ...omitUndefined({ parent, archiveOf: input.archiveOf }),
    settings,
    title: input.title,
    closed: input.archiveOf !== undefined,
    lastActivityAt: now,
    updatedAt: now,
    changedAt: 0,
    rows: [],
    rowsById: new Map(),
    lastSeq: parent?.seq ?? 0,
    sealedSeq: parent?.seq ?? 0,
    fence: 0,
    active: undefined,
    journal: [],
    queue: [],
    queuePaused: false,
    inputs: new Map(),
    turns: [],
    turnsById: new Map(),
    receipts: new Map(),
    compactions: [],
    undone: new Set(parent?.log.undone),
    forks: new Set(),
  };
  parent?.log.forks.add(log);
  db.logs.set(log.number, log);
  ownerOf(db, log.owner).logs.set(log.id, log);
  touch(db, log);
  if (log.archiveOf === undefined) {
    const parentId = parent === undefined ? {} : { parentId: parent.log.id };
    report(db, log, "conversation.created", { title: input.reportedTitle ?? log.title, ...parentId });
  }
  return log;
}

/** Marks a change that is published to watchers: later than every other change of the same owner. */
export function touch(db: MemoryDatabase, log: Log): void {
  const now = db.clock.now();
  log.changedAt = nextChange(db, log.owner);
  // A clock that goes back must not make a conversation older.
  log.updatedAt = Math.max(now, log.updatedAt);
}

function nextChange(db: MemoryDatabase, owner: string): number {
  const of = ownerOf(db, owner);
  of.lastChange = Math.max(db.clock.now(), of.lastChange + 1);
  return of.lastChange;
}

/** Time that a notice is kept. */
const noticeMs = 10 * 60_000;

/** Adds a notice of an event that no record shows. */
export function leaveNotice(
  db: MemoryDatabase,
  owner: string,
  make: (changedAt: number) => ConversationNotice,
): void {
  ownerOf(db, owner).notices.push({ at: db.clock.now(), notice: make(nextChange(db, owner)) });
}

/** Removes notices that every node has had the time to read. */
export function sweepNotices(db: MemoryDatabase): void {
  const before = db.clock.now() - noticeMs;
  for (const owner of db.owners.values()) {
    if (owner.notices.length > 0) owner.notices = owner.notices.filter(({ at }) => at >= before);
  }
}

export interface RowPlace {
  readonly turn?: Turn;
  readonly stepId?: string;
  readonly covers?: { fromSeq: number; toSeq: number };
}

/** Assigns the next seqs to a message: one per part, and one to a message without parts. */
export function appendRow(
  db: MemoryDatabase,
  log: Log,
  message: ConversationMessage,
  place: RowPlace = {},
): Row {
  const firstSeq = log.lastSeq + 1;
  const lastSeq = log.lastSeq + Math.max(1, message.content.length);
  const row: Row = {
    message,
    firstSeq,
    lastSeq,
    tokens: countForRow(message),
    ...(place.turn === undefined ? {} : { turnId: place.turn.id }),
    ...(place.stepId === undefined ? {} : { stepId: place.stepId }),
    ...(place.covers === undefined ? {} : { covers: place.covers }),
  };
  log.rows.push(row);
  log.rowsById.set(message.id, row);
  log.lastSeq = lastSeq;
  if (place.turn !== undefined) place.turn.lastSeq = lastSeq;
  log.lastActivityAt = Math.max(db.clock.now(), log.lastActivityAt);
  const { messages } = ownerOf(db, log.owner);
  if (!messages.has(message.id)) messages.set(message.id, log);
  return row;
}

/** Returns the row as a reader of `conversationId` sees it: inherited rows of a fork read as its own. */
export function entryOf(row: Row, conversationId: ConversationId): HistoryEntry {
  return {
    message: row.message.conversationId === conversationId ? row.message : { ...row.message, conversationId },
    firstSeq: row.firstSeq,
    lastSeq: row.lastSeq,
    tokens: row.tokens,
    ...omitUndefined({ turnId: row.turnId, stepId: row.stepId, covers: row.covers }),
  };
}

/** Refuses messages of another conversation, and those that no store could return unchanged. */
export function checkMessages(
  messages: readonly ConversationMessage[],
  conversationId: ConversationId,
): void {
  for (const message of messages) {
    if (message.conversationId !== conversationId) {
      throw invalid("The message names another conversation", { messageId: message.id });
    }
    if (!Array.isArray(message.content)) {
      throw invalid("A message has a list of parts", { messageId: message.id });
    }
    if (message.createdAt !== undefined && Number.isNaN(new Date(message.createdAt).getTime())) {
      throw invalid("createdAt of a message: not a valid date", { messageId: message.id });
    }
    if (!isPlainRecord(message)) checkPlain(toCanonical(message).content, "message");
  }
}

const dateFields = new Set(["createdAt", "startedAt"]);

/**
 * Returns true for plain data, except for its times. A message that is not plain may still be in its stored form,
 * which leaves out what can be derived.
 */
function isPlainRecord(record: ConversationMessage | ProviderCallRecord): boolean {
  const members = record as unknown as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(members)) {
    const member = members[key];
    const isDate = dateFields.has(key) && member instanceof Date;
    if (!isDate && member !== undefined && !isPlain(member)) return false;
  }
  return true;
}

/** Refuses figures of a turn that no store could return unchanged. */
export function checkFigures(figures: {
  readonly metrics?: TurnMetrics;
  readonly steps?: readonly StepMetrics[];
  readonly providerCalls?: readonly ProviderCallRecord[];
}): void {
  if (figures.metrics !== undefined) checkPlain(figures.metrics, "metrics");
  if (figures.steps !== undefined) checkPlain(figures.steps, "steps");
  for (const call of figures.providerCalls ?? []) {
    if (!isPlainRecord(call)) throw invalidField("providerCalls", "only plain data can be stored");
  }
}
