import { FrameFold } from "@parley/testing";
import type { FileReference, QueuePayload, StoredChunk, TurnDetail } from "@parley/wire";
import type { ClientRecord, ReceivedPart, SentMessage, Viewer } from "./client-record.js";
import type { Random } from "./random.js";
import type { RunningNode } from "./running-node.js";
import { checkDecisions } from "./verify-decisions.js";

/** Result of a tool whose real one was lost in a crash. */
const interrupted = "The call was interrupted before it had a result.";

/** Number of cursors of a viewer that are tried again, beside those with which it was cut off. */
const usualCursors = 6;
/** Number of those that are tried, the newest. */
const mostCuts = 30;

/**
 * Kind of a broken promise: something acknowledged is gone or has changed, is there twice or was never sent, the log
 * has a gap or is out of order, a call has no result, a turn is open, or a cursor leads elsewhere.
 */
export type FindingKind =
  | "lost"
  | "doubled"
  | "gap"
  | "call"
  | "open"
  | "cursor"
  // Of decisions: a tool ran without one, twice, or with other bytes; or one was lost or doubled.
  | "undecided"
  | "twice"
  | "bytes"
  | "decision"
  // Of files: one is gone or has other bytes, or bytes that nothing refers to are still there.
  | "file"
  | "orphan";

/** Something that does not agree with the record. */
export interface Finding {
  readonly kind: FindingKind;
  readonly words: string;
}

const finding =
  (kind: FindingKind) =>
  (words: string): Finding => ({ kind, words });
const lost = finding("lost");
const doubled = finding("doubled");
const gap = finding("gap");
const call = finding("call");
const open = finding("open");

/** The methods of a node that the check uses. */
export type LogReader = Pick<RunningNode, "history" | "meta" | "turn" | "openTurn" | "resume">;

/** Returns the findings of `examineConversation` in words only. */
export async function verifyConversation(
  record: ClientRecord,
  node: LogReader,
  conversationId: string,
  random: Random,
): Promise<string[]> {
  const { findings } = await examineConversation(record, node, conversationId, random);
  return findings.map(({ words }) => words);
}

/**
 * Compares a conversation in which nothing runs with the record, and returns the differences: everything acknowledged is
 * there, once, as it was published; the log has no gap; every call has its result; and a client that reconnects with
 * any cursor it ever held ends in the same state as one that reads the whole log.
 */
export async function examineConversation(
  record: ClientRecord,
  node: LogReader,
  conversationId: string,
  random: Random,
  options: { readonly cursors?: number } = {},
): Promise<{ readonly findings: readonly Finding[]; readonly cursorsTried: number }> {
  const chunks = await node.history(conversationId);
  const { queue } = await node.meta(conversationId);
  const turns = new Map<string, TurnDetail>();
  const fork = record.forks.get(conversationId);
  for (const { turnId, seq } of chunks) {
    // Inherited turns of a fork belong to its parent.
    if (turnId === undefined || turns.has(turnId) || seq <= (fork?.atSeq ?? 0)) continue;
    turns.set(turnId, await node.turn(conversationId, turnId));
  }
  const inherited = fork === undefined ? [] : (await node.history(fork.parentId)).slice(0, fork.atSeq);
  const openTurn = await node.openTurn(conversationId);
  const viewers = record.viewers.filter((viewer) => viewer.conversationId === conversationId);
  const cursors = await checkCursors(node, conversationId, viewers, chunks, random, options.cursors);
  const findings = [
    ...record.contradictions.map(lost),
    ...(openTurn === null ? [] : [open(`turn ${openTurn.turnId} is open`)]),
    ...checkSeqs(chunks),
    ...checkBytes(record.committed.get(conversationId), chunks),
    ...checkMessages(record, conversationId, chunks, queue),
    ...checkInherited(inherited, chunks),
    ...checkSummaries(record, conversationId, chunks),
    ...checkCalls(record, conversationId, chunks),
    ...checkDecisions(record, conversationId, chunks),
    ...checkTurns(record, conversationId, chunks, turns),
    ...viewers.flatMap(({ parts }) => [...checkParts(record, parts, chunks)]),
    ...cursors.findings,
  ].map(({ kind, words }) => ({ kind, words: `${conversationId}: ${words}` }));
  return { findings, cursorsTried: cursors.tried };
}

function* checkSeqs(chunks: readonly StoredChunk[]): Iterable<Finding> {
  for (const [index, { seq }] of chunks.entries()) {
    if (seq !== index + 1) {
      yield gap(`seq ${seq} stands at place ${index + 1}`);
      return;
    }
  }
}

/** Checks that committed chunks never change. */
function* checkBytes(
  committed: ReadonlyMap<number, string> | undefined,
  chunks: readonly StoredChunk[],
): Iterable<Finding> {
  for (const [seq, bytes] of committed ?? []) {
    const now = JSON.stringify(chunks[seq - 1]);
    if (now !== bytes) yield lost(`seq ${seq} was received as ${bytes} and is ${now}`);
  }
}

/** Returns the file that a chunk refers to. */
export function fileOf(chunk: StoredChunk["chunk"]): FileReference | undefined {
  return chunk.type === "text" ? chunk.file : undefined;
}

/**
 * Checks that every admitted message is there once, in the log or in the queue, and that every message there was sent.
 */
function* checkMessages(
  record: ClientRecord,
  conversationId: string,
  chunks: readonly StoredChunk[],
  queue: QueuePayload,
): Iterable<Finding> {
  const waiting = new Map(queue.messages.map(({ id, text }) => [id, text]));
  const rows = chunks.filter(({ role, chunk }) => role === "user" && fileOf(chunk) === undefined);
  for (const message of record.sent.values()) {
    if (message.conversationId !== conversationId) continue;
    const { messageId, text, receipt } = message;
    const found = rows.filter((row) => row.messageId === messageId);
    const times = found.length + (waiting.has(messageId) ? 1 : 0);
    if (times > 1) yield doubled(`message ${messageId} is there ${times} times`);
    if (times === 0 && receipt !== undefined && message.removal === undefined)
      yield lost(`message ${messageId} was admitted and is gone`);
    if (times > 0 && message.removal === "done") yield lost(`message ${messageId} was removed and is there`);
    const [row] = found;
    const kept = row?.chunk.type === "text" ? row.chunk.text : waiting.get(messageId);
    if (times === 1 && !textsOf(message).includes(kept))
      yield lost(`message ${messageId} was "${text}" and is "${kept}"`);
    if (row !== undefined && receipt?.turnId !== undefined && row.turnId !== receipt.turnId) {
      yield lost(`message ${messageId} was admitted into turn ${receipt.turnId} and is in ${row.turnId}`);
    }
    const steered = record.steered.get(messageId);
    if (steered !== undefined && row?.turnId !== steered) {
      yield lost(`message ${messageId} was reported to steer ${steered} and is in ${row?.turnId}`);
    }
  }
  for (const { messageId = "", seq } of rows) {
    if (!record.sent.has(messageId)) yield doubled(`seq ${seq} is a message ${messageId} that was not sent`);
  }
}

/** Returns the possible texts of a message: the last known one, or any that it may have been given since. */
function textsOf({ text, edits = [] }: SentMessage): (string | undefined)[] {
  const known = edits.findLastIndex(({ isDone }) => isDone);
  return [edits[known]?.text ?? text, ...edits.slice(known + 1).map((edit) => edit.text)];
}

/** Checks that a fork begins with its parent's log. */
function* checkInherited(
  inherited: readonly StoredChunk[],
  chunks: readonly StoredChunk[],
): Iterable<Finding> {
  const own = JSON.stringify(chunks.slice(0, inherited.length));
  if (own !== JSON.stringify(inherited)) yield lost(`the fork begins with ${own}`);
}

/** Checks that a successful compaction left one summary, a refused one none; of the others it is unknown. */
function* checkSummaries(
  record: ClientRecord,
  conversationId: string,
  chunks: readonly StoredChunk[],
): Iterable<Finding> {
  const asked = record.compactions.filter((each) => each.conversationId === conversationId);
  const done = asked.filter(({ outcome }) => outcome === "done").length;
  const unknown = asked.filter(({ outcome }) => outcome === "unknown").length;
  const isEntry = ({ chunk }: StoredChunk) => chunk.type === "system" && chunk.input !== undefined;
  const there = chunks.filter((stored) => stored.role === "system" && !isEntry(stored)).length;
  if (record.forks.has(conversationId)) return;
  if (there < done || there > done + unknown) {
    const words = `there are ${there} summaries after ${done} compactions and ${unknown} of unknown outcome`;
    yield there < done ? lost(words) : doubled(words);
  }
}

/** Checks that every call has one result after it, every result one call; a tool that must not run twice did not. */
function* checkCalls(
  record: ClientRecord,
  conversationId: string,
  chunks: readonly StoredChunk[],
): Iterable<Finding> {
  const calls = new Set<string>();
  const asked = new Set<string>();
  const results = new Map<string, StoredChunk>();
  for (const stored of chunks) {
    const { chunk, seq, turnId } = stored;
    if (chunk.type === "system" && chunk.input !== undefined) asked.add(chunk.input.toolCallId);
    if (chunk.type === "tool-call") calls.add(chunk.toolCallId);
    if (chunk.type !== "tool-result") continue;
    const { toolCallId, content, toolName } = chunk;
    if (!calls.has(toolCallId)) yield call(`seq ${seq} answers a call ${toolCallId} that is not before it`);
    if (results.has(toolCallId)) yield doubled(`call ${toolCallId} has two results`);
    results.set(toolCallId, stored);
    // Results that depend on a decision are checked with the decisions.
    if (asked.has(toolCallId)) continue;
    if (content !== interrupted && content !== `${toolName} answers ${toolCallId}`) {
      yield lost(`call ${toolCallId} of turn ${turnId} has the result "${content}"`);
    }
  }
  for (const id of calls) if (!results.has(id)) yield call(`call ${id} has no result`);
  for (const [id, { conversationId: at, name, times }] of record.started) {
    if (at !== conversationId) continue;
    if (name === "once" && times > 1) yield doubled(`${name} ran ${times} times for call ${id}`);
    if (!calls.has(id)) yield lost(`${name} was started for a call ${id} that is not in the log`);
  }
  for (const [id, received] of record.results) {
    if (received.conversationId !== conversationId) continue;
    const kept = results.get(id);
    if (kept?.chunk.type !== "tool-result") yield lost(`the result of ${id} was received and is gone`);
    else if (kept.chunk.content !== received.content || kept.messageId !== received.messageId) {
      yield lost(`the result of ${id} was received as "${received.content}" and is "${kept.chunk.content}"`);
    }
  }
}

/**
 * Checks that turns reported as sealed are, with that reason and those seqs; the turns follow each other in the log.
 */
function* checkTurns(
  record: ClientRecord,
  conversationId: string,
  chunks: readonly StoredChunk[],
  turns: ReadonlyMap<string, TurnDetail>,
): Iterable<Finding> {
  const ended = new Set<string>();
  let current: string | undefined;
  for (const { turnId, seq } of chunks) {
    if (turnId === current) continue;
    if (turnId !== undefined && ended.has(turnId))
      yield gap(`turn ${turnId} goes on at seq ${seq}, behind another`);
    if (current !== undefined) ended.add(current);
    current = turnId;
  }
  for (const [turnId, { status, reason, metrics }] of turns) {
    if (status !== "sealed") yield open(`turn ${turnId} is ${status}`);
    else if (metrics?.reason !== reason)
      yield lost(`turn ${turnId} ended with ${reason}, its metrics say ${metrics?.reason}`);
  }
  for (const [turnId, received] of record.sealed) {
    if (received.conversationId !== conversationId) continue;
    const rows = chunks.filter((chunk) => chunk.turnId === turnId);
    const is = { reason: turns.get(turnId)?.reason, firstSeq: rows[0]?.seq, lastSeq: rows.at(-1)?.seq };
    const was = { reason: received.reason, firstSeq: received.firstSeq, lastSeq: received.lastSeq };
    if (JSON.stringify(is) !== JSON.stringify(was)) {
      yield lost(
        `turn ${turnId} was reported as sealed with ${JSON.stringify(was)} and is ${JSON.stringify(is)}`,
      );
    }
  }
}

/**
 * Checks that what the journal is known to have held is durable; and that durable text begins as it was seen, or ends
 * earlier.
 */
function* checkParts(
  record: ClientRecord,
  parts: readonly ReceivedPart[],
  chunks: readonly StoredChunk[],
): Iterable<Finding> {
  const places = new Map(chunks.map((stored) => [`${stored.messageId} ${stored.partIndex}`, stored.chunk]));
  for (const { turnId, epoch, messageId, partIndex, pieces } of parts) {
    const flushedN = record.flushed.get(`${turnId}~${epoch}`) ?? -1;
    const seen = pieces.map(({ text }) => text).join("");
    const flushed = pieces.flatMap(({ n, text }) => (n <= flushedN ? [text] : [])).join("");
    const chunk = places.get(`${messageId} ${partIndex}`);
    const durable = chunk !== undefined && "text" in chunk ? chunk.text : undefined;
    if (flushed !== "" && !durable?.startsWith(flushed)) {
      yield lost(`of message ${messageId} "${flushed}" was flushed, and "${durable}" is left`);
    }
    if (durable !== undefined && !durable.startsWith(seen) && !seen.startsWith(durable)) {
      yield lost(`of message ${messageId} "${seen}" was seen, and "${durable}" is kept`);
    }
  }
}

/**
 * Checks that viewers that followed, and viewers that reconnect with a cursor of any age, end in the state of the log.
 */
async function checkCursors(
  node: LogReader,
  conversationId: string,
  viewers: readonly Viewer[],
  chunks: readonly StoredChunk[],
  random: Random,
  count = usualCursors,
): Promise<{ readonly findings: readonly Finding[]; readonly tried: number }> {
  const truth = shownBy(chunks);
  const findings: Finding[] = [];
  const report = (words: string) => findings.push({ kind: "cursor", words });
  let tried = 0;
  const comeBack = async (fold: FrameFold) => {
    const at = fold.state.cursor ?? "0";
    tried += 1;
    for (const frame of await node.resume(conversationId, at)) fold.apply(frame);
    const seen = shown(fold);
    if (seen !== truth) report(`a viewer that comes back at ${at} ${difference(seen, truth)}`);
  };
  await comeBack(new FrameFold());
  for (const viewer of viewers) {
    const { frames, cursor } = viewer;
    const seen = shown(viewer.fold);
    if (seen !== truth) report(`a viewer at ${cursor} ${difference(seen, truth)}`);
    const ages = new Set([frames.length, ...viewer.cuts.slice(-mostCuts)]);
    for (let index = 0; index < count && frames.length > 2; index += 1) {
      // Half of them from the last turns, where problems are likely.
      const from = index % 2 === 0 ? Math.max(1, frames.length - 80) : 1;
      ages.add(random.between(from, frames.length - 1));
    }
    for (const age of ages) await comeBack(viewer.foldOf(age));
  }
  return { findings, tried };
}

/** Returns the place where two texts differ. */
function difference(seen: string, truth: string): string {
  let place = 0;
  while (place < truth.length && seen[place] === truth[place]) place += 1;
  const around = (text: string) => text.slice(Math.max(0, place - 80), place + 160);
  return `sees ...${around(seen)}... instead of ...${around(truth)}...`;
}

/** Returns what a client shows, committed or not, as text. */
function shown(fold: FrameFold): string {
  const { chunks, messages } = fold.state;
  return `${JSON.stringify(chunks)}\n  ${JSON.stringify(messages)}`;
}

function shownBy(chunks: readonly StoredChunk[]): string {
  const fold = new FrameFold();
  const conversationId = "";
  const cursor = String(chunks.length) as never;
  fold.apply({ type: "chat.chunks", conversationId, chunks, cursor });
  return shown(fold);
}
