import type { StoredChunk } from "@parley/wire";
import type { FoldedMessage, PartState } from "./message-state.js";
import { omitUndefined } from "./omit-undefined.js";

/**
 * The messages of a conversation in two lists, so that a delta changes only the short second one, however long the
 * conversation is.
 */
export interface MessageLog {
  /** Messages in the log, ascending by seq. */
  readonly committed: readonly FoldedMessage[];
  /** Published messages of the open turn that are not committed yet, in the order of their first event. */
  readonly provisional: readonly FoldedMessage[];
}

export const emptyLog: MessageLog = { committed: [], provisional: [] };

const joined = new WeakMap<MessageLog, readonly FoldedMessage[]>();

/** Returns all messages in order; joined once per log, on first use. */
export function messagesOf(log: MessageLog): readonly FoldedMessage[] {
  const { committed, provisional } = log;
  if (provisional.length === 0) return committed;
  let all = joined.get(log);
  if (all === undefined) {
    all = committed.concat(provisional);
    joined.set(log, all);
  }
  return all;
}

/** A range of the log that is not loaded, before messages that are: all seqs between these two. */
export interface LogGap {
  /** The last loaded seq before the range; 0 if there is none. */
  readonly afterSeq: number;
  /** The first loaded seq after the range. */
  readonly beforeSeq: number;
}

const gapsFound = new WeakMap<readonly FoldedMessage[], readonly LogGap[]>();

/** Returns the ranges that are not loaded, ascending: seqs are consecutive. Computed once per list of messages. */
export function gapsOf({ committed }: MessageLog): readonly LogGap[] {
  const known = gapsFound.get(committed);
  if (known !== undefined) return known;
  const gaps: LogGap[] = [];
  let afterSeq = 0;
  for (const { parts } of committed) {
    for (const { seq } of parts) {
      if (seq === undefined) continue;
      if (seq > afterSeq + 1) gaps.push({ afterSeq, beforeSeq: seq });
      afterSeq = seq;
    }
  }
  gapsFound.set(committed, gaps);
  return gaps;
}

/** Creates the log from a list of messages. */
export function logOf(messages: readonly FoldedMessage[]): MessageLog {
  return {
    committed: messages.filter(({ status }) => status === "committed"),
    provisional: messages.filter(({ status }) => status === "streaming"),
  };
}

/**
 * Returns true if a message of a turn is committed. Only the newest turn is ever queried, so the search goes
 * back no further than its start. Rows that belong to no turn, such as a summary, may be in between.
 */
export function isCommitted({ committed }: MessageLog, id: string, turnId: string | undefined): boolean {
  for (let index = committed.length - 1; index >= 0; index -= 1) {
    const message = committed[index] as FoldedMessage;
    if (message.id === id) return true;
    if (message.turnId !== undefined && message.turnId !== turnId) return false;
  }
  return false;
}

/** Returns a provisional message by its id. */
export function provisionalOf({ provisional }: MessageLog, id: string): FoldedMessage | undefined {
  return provisional.findLast((message) => message.id === id);
}

/** Adds a provisional message, or replaces the one with its id. */
export function withProvisional(log: MessageLog, message: FoldedMessage): MessageLog {
  const provisional = log.provisional.slice();
  const at = provisional.findLastIndex(({ id }) => id === message.id);
  if (at === -1) provisional.push(message);
  else provisional[at] = message;
  return { ...log, provisional };
}

/** Returns the log without the provisional messages of a turn. */
export function withoutProvisional(log: MessageLog, turnId: string): MessageLog {
  const provisional = without(log.provisional, (message) => message.turnId === turnId);
  return provisional === log.provisional ? log : { ...log, provisional };
}

/**
 * Adds chunks of the log, in any order of arrival. A provisional message is replaced by its committed form. Returns the chunks that were new; the same log when none was.
 */
export function withChunks(
  log: MessageLog,
  chunks: readonly StoredChunk[],
): { log: MessageLog; fresh: readonly StoredChunk[] } {
  const fresh = chunks.filter(({ seq }) => !holds(log.committed, seq));
  if (fresh.length === 0) return { log, fresh };
  const committed = log.committed.slice();
  const ids = new Set<string>();
  for (const message of toMessages(fresh)) {
    ids.add(message.id);
    insert(committed, message);
  }
  const isTaken = ({ id }: FoldedMessage) => ids.has(id);
  return {
    log: { committed, provisional: without(log.provisional, isTaken) },
    fresh,
  };
}

/** Returns the same array if nothing is removed. */
function without<T>(values: readonly T[], isLeftOut: (value: T) => boolean): readonly T[] {
  return values.some(isLeftOut) ? values.filter((value) => !isLeftOut(value)) : values;
}

/** Returns the number of messages that start at or before a seq. */
function countThrough(messages: readonly FoldedMessage[], seq: number): number {
  let low = 0;
  let high = messages.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((messages[middle]?.firstSeq ?? 0) <= seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

function holds(messages: readonly FoldedMessage[], seq: number): boolean {
  const message = messages[countThrough(messages, seq) - 1];
  if (message === undefined || (message.lastSeq ?? 0) < seq) return false;
  return message.parts.some((part) => part.seq === seq);
}

/** Inserts a message at its place, merged with its parts from another page. */
function insert(messages: FoldedMessage[], message: FoldedMessage): void {
  const at = countThrough(messages, message.firstSeq ?? 0);
  const before = messages[at - 1];
  const after = messages[at];
  const isBehind = before?.id === message.id;
  const isAhead = after?.id === message.id;
  let whole = message;
  if (isBehind) whole = join(before, whole);
  if (isAhead) whole = join(whole, after);
  messages.splice(isBehind ? at - 1 : at, (isBehind ? 1 : 0) + (isAhead ? 1 : 0), whole);
}

function join(first: FoldedMessage, second: FoldedMessage): FoldedMessage {
  const parts = [...first.parts, ...second.parts].sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
  return { ...first, parts, ...seqsOf(parts) };
}

function seqsOf(parts: readonly PartState[]): { firstSeq: number; lastSeq: number } {
  return { firstSeq: parts[0]?.seq ?? 0, lastSeq: parts.at(-1)?.seq ?? 0 };
}

function toMessages(chunks: readonly StoredChunk[]): FoldedMessage[] {
  const messages: FoldedMessage[] = [];
  let group: StoredChunk[] = [];
  for (const chunk of chunks) {
    const last = group.at(-1);
    if (last !== undefined && !continues(last, chunk)) {
      messages.push(toMessage(group));
      group = [];
    }
    group.push(chunk);
  }
  if (group.length > 0) messages.push(toMessage(group));
  return messages;
}

/**
 * Returns true if a chunk continues a message. Chunks without a message id, as other servers send them, are
 * one message while the role stays the same.
 */
function continues(last: StoredChunk, next: StoredChunk): boolean {
  if (next.role !== last.role || next.messageId !== last.messageId) return false;
  return next.messageId !== undefined || (next.seq === last.seq + 1 && next.partIndex !== 0);
}

function toMessage(group: readonly StoredChunk[]): FoldedMessage {
  const first = group[0] as StoredChunk;
  const { role, turnId, stepId, createdAt } = first;
  const id = first.messageId ?? `seq:${first.seq - (first.partIndex ?? 0)}`;
  const parts = group.map(({ chunk, seq, partIndex }): PartState => {
    const index = partIndex ?? seq - first.seq;
    return { key: partKey(id, index), index, chunk, streaming: false, seq };
  });
  return {
    id,
    role,
    parts,
    status: "committed",
    ...seqsOf(parts),
    ...omitUndefined({ turnId, stepId, createdAt }),
  };
}

/** Returns a part's key: the same while it grows and once it is committed. */
export function partKey(messageId: string, index: number): string {
  return `${messageId}/${index}`;
}
