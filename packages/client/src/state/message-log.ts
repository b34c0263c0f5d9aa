import type { StoredChunk } from "@parley/wire";
import { given } from "../given.js";
import type { MessageState, PartState } from "./conversation-state.js";

/**
 * The messages of a conversation in three stretches, so that a word of the answer changes only the short middle
 * one, however long the conversation is.
 */
export interface MessageLog {
  /** What is in the log, ascending by seq. */
  readonly committed: readonly MessageState[];
  /** What was told of the open turn and is not committed yet, in the order in which it was first told. */
  readonly provisional: readonly MessageState[];
  /** What this client has sent and not heard of since. */
  readonly outgoing: readonly MessageState[];
}

export const emptyLog: MessageLog = { committed: [], provisional: [], outgoing: [] };

const joined = new WeakMap<MessageLog, readonly MessageState[]>();

/** All messages in order; joined once per log, when someone asks. */
export function messagesOf(log: MessageLog): readonly MessageState[] {
  const { committed, provisional, outgoing } = log;
  if (provisional.length === 0 && outgoing.length === 0) return committed;
  let all = joined.get(log);
  if (all === undefined) {
    all = committed.concat(provisional, outgoing);
    joined.set(log, all);
  }
  return all;
}

/** The log that a list of messages stands for. */
export function logOf(messages: readonly MessageState[]): MessageLog {
  return {
    committed: messages.filter(({ status }) => status === "committed"),
    provisional: messages.filter(({ status }) => status === "streaming"),
    outgoing: messages.filter(({ status }) => status === "sending" || status === "failed"),
  };
}

/**
 * Whether a message of a turn is committed. Only the newest turn is ever asked about, so the search goes back no
 * further than its beginning. Rows that belong to no turn, as a summary, may stand in between.
 */
export function isCommitted({ committed }: MessageLog, id: string, turnId: string | undefined): boolean {
  for (let index = committed.length - 1; index >= 0; index -= 1) {
    const message = committed[index] as MessageState;
    if (message.id === id) return true;
    if (message.turnId !== undefined && message.turnId !== turnId) return false;
  }
  return false;
}

/** A provisional message by its id. */
export function provisionalOf({ provisional }: MessageLog, id: string): MessageState | undefined {
  return provisional.findLast((message) => message.id === id);
}

/** Adds a provisional message, or puts it in place of the one with its id. It is no longer only outgoing. */
export function withProvisional(log: MessageLog, message: MessageState): MessageLog {
  const provisional = log.provisional.slice();
  const at = provisional.findLastIndex(({ id }) => id === message.id);
  if (at === -1) provisional.push(message);
  else provisional[at] = message;
  return { ...log, provisional, outgoing: without(log.outgoing, (other) => other.id === message.id) };
}

/** Adds an outgoing message, or puts it in place of the one with its id. */
export function withOutgoing(log: MessageLog, message: MessageState): MessageLog {
  const isOther = ({ id }: MessageState) => id !== message.id;
  const at = log.outgoing.findIndex(({ id }) => id === message.id);
  const outgoing = at === -1 ? [...log.outgoing, message] : log.outgoing.with(at, message);
  return { ...log, outgoing, provisional: without(log.provisional, (other) => !isOther(other)) };
}

/** Without the outgoing message of this id. */
export function withoutOutgoing(log: MessageLog, id: string): MessageLog {
  const outgoing = without(log.outgoing, (message) => message.id === id);
  return outgoing === log.outgoing ? log : { ...log, outgoing };
}

/** Without what is provisional of a turn. */
export function withoutProvisional(log: MessageLog, turnId: string): MessageLog {
  const provisional = without(log.provisional, (message) => message.turnId === turnId);
  return provisional === log.provisional ? log : { ...log, provisional };
}

/**
 * Takes in chunks of the log, in any order of arrival. Messages that are told or outgoing give way to their
 * committed form. Returns the chunks that were new; the same log when none was.
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
  const isTaken = ({ id }: MessageState) => ids.has(id);
  return {
    log: {
      committed,
      provisional: without(log.provisional, isTaken),
      outgoing: without(log.outgoing, isTaken),
    },
    fresh,
  };
}

/** The same array when nothing is left out. */
function without<T>(values: readonly T[], isLeftOut: (value: T) => boolean): readonly T[] {
  return values.some(isLeftOut) ? values.filter((value) => !isLeftOut(value)) : values;
}

/** How many of the messages begin at or before a seq. */
function countThrough(messages: readonly MessageState[], seq: number): number {
  let low = 0;
  let high = messages.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((messages[middle]?.firstSeq ?? 0) <= seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

function holds(messages: readonly MessageState[], seq: number): boolean {
  const message = messages[countThrough(messages, seq) - 1];
  if (message === undefined || (message.lastSeq ?? 0) < seq) return false;
  return message.parts.some((part) => part.seq === seq);
}

/** Puts a message at its place, together with what is there of it from another page. */
function insert(messages: MessageState[], message: MessageState): void {
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

function join(first: MessageState, second: MessageState): MessageState {
  const parts = [...first.parts, ...second.parts].sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
  return { ...first, parts, ...seqsOf(parts) };
}

function seqsOf(parts: readonly PartState[]): { firstSeq: number; lastSeq: number } {
  return { firstSeq: parts[0]?.seq ?? 0, lastSeq: parts.at(-1)?.seq ?? 0 };
}

function toMessages(chunks: readonly StoredChunk[]): MessageState[] {
  const messages: MessageState[] = [];
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

/** Chunks without a message id, as other servers send them, are one message while the role stays the same. */
function continues(last: StoredChunk, next: StoredChunk): boolean {
  if (next.role !== last.role || next.messageId !== last.messageId) return false;
  return next.messageId !== undefined || (next.seq === last.seq + 1 && next.partIndex !== 0);
}

function toMessage(group: readonly StoredChunk[]): MessageState {
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
    ...given({ turnId, stepId, createdAt }),
  };
}

/** A part's key: the same while it grows and once it is committed. */
export function partKey(messageId: string, index: number): string {
  return `${messageId}/${index}`;
}
