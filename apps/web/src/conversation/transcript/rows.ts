import type { CallInput, ConversationState, LogGap, MessageState, TurnState } from "@parley/client";
import { toolCallsOf } from "@parley/client/tool-calls";
import type { FileReference, SystemChunk, ToolResultChunk, TurnProgress } from "@parley/wire";
import { messageFiles } from "../message-text.js";
import type { WaitingOn } from "./waiting-words.js";

/*
 * The rows that the list of messages draws, one after the other. A message of the assistant is a row of its own, with
 * the results of its tool calls, so that a turn of thirty steps is thirty rows and only those in view are drawn. After
 * the last message of a turn that has ended, a row shows how it ended and what can be done with it.
 */

/** One row of the conversation. */
export type Row = UserRow | StepRow | EndRow | SummaryRow | NoteRow | WaitingRow;

/** A message of the user. */
export interface UserRow {
  readonly kind: "user";
  readonly key: string;
  readonly message: MessageState;
  /** It was put into a turn that was already running. */
  readonly steered: boolean;
  /** It opened its turn, so that it can be edited by forking in front of it. */
  readonly opening: boolean;
}

/** One step: the assistant's message, and the results of the tools that it called. */
export interface StepRow {
  readonly kind: "step";
  readonly key: string;
  readonly message: MessageState;
  /** In the order of the calls; undefined if a tool is still running. */
  readonly results: readonly (ToolResultChunk | undefined)[];
  /** Requests about its calls and their decisions; in the order of the calls, undefined for a call without any. */
  readonly inputs: readonly (readonly CallInput[] | undefined)[];
  /** Files that its tools returned, in the order of the calls. */
  readonly files: readonly FileReference[];
  /** Start time of its tools in epoch milliseconds; undefined if none is running, or it is not known. */
  readonly toolsSince: number | undefined;
  /** The turn it belongs to, while that is running: its tools may print. */
  readonly liveTurn: TurnState | undefined;
  /** The first row of its turn's answer. */
  readonly first: boolean;
}

/** The end of a turn. */
export interface EndRow {
  readonly kind: "end";
  readonly key: string;
  readonly turnId: string | undefined;
  readonly turn: TurnState | undefined;
  /** The messages that opened the turn. Empty when they are not loaded. */
  readonly opening: readonly MessageState[];
  readonly answer: readonly MessageState[];
  /** The newest turn of the conversation. */
  readonly last: boolean;
}

/** A compaction's summary. */
export interface SummaryRow {
  readonly kind: "summary";
  readonly key: string;
  readonly message: MessageState;
  readonly chunk: SystemChunk & { readonly covers: NonNullable<SystemChunk["covers"]> };
}

/** Another entry that the system put into the log. */
export interface NoteRow {
  readonly kind: "note";
  readonly key: string;
  readonly message: MessageState;
}

/** A running turn whose next output is not visible yet. */
export interface WaitingRow {
  readonly kind: "waiting";
  readonly key: string;
  readonly turnId: string | undefined;
  /** Start of the wait in epoch milliseconds; undefined if the server has not reported it yet. */
  readonly since: number | undefined;
  readonly on: WaitingOn;
  /** Reason of a longer wait, if the server has reported one. */
  readonly progress: TurnProgress | undefined;
}

interface Group {
  readonly turnId: string | undefined;
  readonly messages: MessageState[];
  /** True if the messages after these are not loaded: the turn may have more. */
  isCut: boolean;
}

/**
 * Builds the rows for a state. Unchanged rows keep their identity from `previous`, so that they are not drawn again.
 * `quietSince`: time since which nothing has arrived of a turn that had started to answer.
 */
export function buildRows(
  state: ConversationState,
  previous: readonly Row[] = [],
  quietSince?: number,
): readonly Row[] {
  const known = new Map(previous.map((row) => [row.key, row]));
  const groups = groupByTurn(state);
  const rows: Row[] = [];
  const add = (row: Row) => {
    const before = known.get(row.key);
    rows.push(before !== undefined && sameRow(before, row) ? before : row);
  };
  const lastTurn = groups.findLastIndex((group) => group.messages.some(isTalk));
  for (const [index, group] of groups.entries()) {
    addGroup(add, group, state, { last: index === lastTurn, quietSince });
  }
  const same = rows.length === previous.length && rows.every((row, index) => row === previous[index]);
  return same ? previous : rows;
}

function addGroup(
  add: (row: Row) => void,
  group: Group,
  state: ConversationState,
  { last, quietSince }: { readonly last: boolean; readonly quietSince: number | undefined },
): void {
  const turn = group.turnId === undefined ? undefined : state.turns[group.turnId];
  const running = isRunning(group, turn, state);
  const liveTurn = running ? turn : undefined;
  const results = resultsOf(group.messages);
  const files = returnedFiles(group.messages);
  const called = new Set(group.messages.flatMap(callsOf));
  const asks = group.messages.some(isInputEntry);
  let first = true;
  let answered = false;
  for (const message of group.messages) {
    const key = `message:${message.id}`;
    if (message.role === "user") {
      add({ kind: "user", key, message, steered: answered, opening: !answered });
    } else if (message.role === "system") {
      // Requests and decisions are shown with their calls.
      if (!isInputEntry(message)) add(systemRow(key, message));
    } else if (message.role === "assistant") {
      answered = true;
      // A failure is shown at the end of its turn.
      if (message.parts.length > 0 && message.parts.every(({ chunk }) => chunk.type === "error")) continue;
      const own = callsOf(message).map((id) => results.get(id));
      const inputs = asks ? inputsOf(state, message) : none;
      const returned = callsOf(message).flatMap((id) => files.get(id) ?? []);
      const isAtWork = liveTurn !== undefined && own.includes(undefined);
      const toolsSince = isAtWork ? generatedAt(message, liveTurn) : undefined;
      add({ kind: "step", key, message, results: own, inputs, files: returned, toolsSince, liveTurn, first });
      first = false;
    } else if (resultIdsOf(message).some((id) => !called.has(id))) {
      // The call is outside of the loaded window: its result is a row by itself.
      const nothing = { results: [], inputs: none, files: [], toolsSince: undefined };
      add({ kind: "step", key, message, ...nothing, liveTurn, first });
      answered = true;
      first = false;
    }
  }
  const talk = group.messages.some(isTalk);
  if (running) {
    const on = waitsOn(group.messages, results, state);
    const since = on === undefined ? quietSince : lastSignOf(group, turn);
    if (on !== undefined || quietSince !== undefined) {
      const { turnId } = group;
      const progress = state.activeTurn?.turnId === turnId ? state.activeTurn?.progress : undefined;
      add({ kind: "waiting", key: "waiting", turnId, since, on: on ?? "model", progress });
    }
  } else if (
    talk &&
    !group.isCut &&
    group.messages.every((message) => message.status === "committed" || message.role !== "user")
  ) {
    add(endRow(group, turn, last));
  }
}

function endRow(group: Group, turn: TurnState | undefined, last: boolean): EndRow {
  const firstAnswer = group.messages.findIndex((message) => message.role !== "user");
  return {
    kind: "end",
    key: `end:${group.turnId ?? group.messages[0]?.id}`,
    turnId: group.turnId,
    turn,
    opening: group.messages.slice(0, firstAnswer < 0 ? group.messages.length : firstAnswer),
    answer: group.messages.filter((message) => message.role === "assistant"),
    last,
  };
}

function systemRow(key: string, message: MessageState): SummaryRow | NoteRow {
  for (const { chunk } of message.parts) {
    if (chunk.type === "system" && chunk.covers !== undefined) {
      return { kind: "summary", key, message, chunk: chunk as SummaryRow["chunk"] };
    }
  }
  return { kind: "note", key, message };
}

/**
 * Groups messages by turn. Messages of one turn are adjacent, unless something between them is not loaded. If no turn
 * is named (imports), one starts with each user message.
 */
function groupByTurn({ messages, gaps }: ConversationState): readonly Group[] {
  const groups: Group[] = [];
  const behindGap = new Set(gaps.map(({ beforeSeq }) => beforeSeq));
  for (const message of messages) {
    const group = groups.at(-1);
    const isCut = message.firstSeq !== undefined && behindGap.has(message.firstSeq);
    if (isCut && group !== undefined) group.isCut = true;
    const sameTurn =
      group !== undefined &&
      !isCut &&
      group.turnId === message.turnId &&
      (message.turnId !== undefined || message.role !== "user") &&
      message.status !== "sending" &&
      message.status !== "failed";
    if (sameTurn) group.messages.push(message);
    else groups.push({ turnId: message.turnId, messages: [message], isCut: false });
  }
  return groups;
}

function isRunning(group: Group, turn: TurnState | undefined, state: ConversationState): boolean {
  if (group.turnId === undefined) return false;
  if (turn !== undefined) return turn.status === "running";
  return state.activeTurn?.turnId === group.turnId;
}

/** Returns the actor that the next output waits for; undefined while the answer is being written. */
function waitsOn(
  messages: readonly MessageState[],
  results: ReadonlyMap<string, ToolResultChunk>,
  state: ConversationState,
): WaitingOn | undefined {
  const last = messages.findLast((message) => message.role !== "tool" && !isInputEntry(message));
  if (last === undefined || last.role === "user" || last.role === "system") return "model";
  const calls = callsOf(last);
  if (calls.length === 0) {
    return last.parts.every(({ chunk }) => "text" in chunk && chunk.text === "") ? "model" : undefined;
  }
  const open = calls.filter((id) => !results.has(id));
  if (open.length === 0) return "model";
  const kinds = new Map<string, string>();
  for (const inputs of inputsOf(state, last)) {
    const undecided = inputs?.find(({ response }) => response === undefined)?.request;
    if (undecided !== undefined) kinds.set(undecided.toolCallId, undecided.kind);
  }
  if (open.some((id) => !kinds.has(id))) return "tool";
  return open.every((id) => kinds.get(id) === "tool-output") ? "caller" : "person";
}

/** Returns when the turn started, or when its last message was made, whichever is later. */
function lastSignOf({ messages }: Group, turn: TurnState | undefined): number | undefined {
  const last = messages.at(-1);
  const made = last === undefined ? undefined : generatedAt(last, turn);
  const times = [turn?.startedAt, made].filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.max(...times);
}

/** Returns when a message was complete: `createdAt` of a step's message is the time at which its model was called. */
function generatedAt({ createdAt, stepId, role }: MessageState, turn: TurnState | undefined) {
  if (createdAt === undefined || role !== "assistant") return createdAt;
  const step = turn?.steps.findLast((each) => each.stepId === stepId);
  return createdAt + Math.round(step?.genTotalMs ?? 0);
}

const none: readonly undefined[] = [];

function inputsOf(state: ConversationState, { stepId }: MessageState): StepRow["inputs"] {
  return stepId === undefined ? none : toolCallsOf(state, stepId).map(({ inputs }) => inputs);
}

/** Returns true for a request for input, or the decision on one. */
function isInputEntry({ role, parts }: MessageState): boolean {
  return role === "system" && parts.some(({ chunk }) => chunk.type === "system" && chunk.input !== undefined);
}

function callsOf(message: MessageState): string[] {
  return message.parts.flatMap(({ chunk }) => (chunk.type === "tool-call" ? [chunk.toolCallId] : []));
}

function resultIdsOf(message: MessageState): string[] {
  return message.parts.flatMap(({ chunk }) => (chunk.type === "tool-result" ? [chunk.toolCallId] : []));
}

function resultsOf(messages: readonly MessageState[]): ReadonlyMap<string, ToolResultChunk> {
  const results = new Map<string, ToolResultChunk>();
  for (const message of messages) {
    if (message.role !== "tool") continue;
    for (const { chunk } of message.parts) {
      if (chunk.type === "tool-result") results.set(chunk.toolCallId, chunk);
    }
  }
  return results;
}

/** Returns the files that tools returned, by call. */
function returnedFiles(messages: readonly MessageState[]): ReadonlyMap<string, readonly FileReference[]> {
  const found = new Map<string, readonly FileReference[]>();
  for (const message of messages) {
    if (message.role !== "tool") continue;
    const files = messageFiles(message);
    const [id] = resultIdsOf(message);
    if (id !== undefined && files.length > 0) found.set(id, files);
  }
  return found;
}

const isTalk = (message: MessageState) => message.role !== "system";

function sameRow(a: Row, b: Row): boolean {
  if (a.kind !== b.kind) return false;
  const left = a as unknown as Readonly<Record<string, unknown>>;
  const right = b as unknown as Readonly<Record<string, unknown>>;
  return Object.keys(right).every((name) => {
    const one = left[name];
    const other = right[name];
    if (Array.isArray(one) && Array.isArray(other)) {
      return one.length === other.length && one.every((value, index) => value === other[index]);
    }
    return one === other;
  });
}

/** Returns the gaps between rows, each by the key of the row after it. The start of the log is not one of them. */
export function gapsByRow(rows: readonly Row[], gaps: readonly LogGap[]): ReadonlyMap<string, LogGap> {
  const found = new Map<string, LogGap>();
  for (const gap of gaps) {
    if (gap.afterSeq === 0) continue;
    const row = rows.find((each) => "message" in each && (each.message.lastSeq ?? 0) >= gap.beforeSeq);
    if (row !== undefined) found.set(row.key, gap);
  }
  return found;
}

/** Returns the index of the row that shows a place of the log, for jumping to it; -1 if it is not loaded. */
export function rowOfSeq(rows: readonly Row[], seq: number): number {
  let found = -1;
  for (const [index, row] of rows.entries()) {
    if (!("message" in row) || row.message.firstSeq === undefined) continue;
    if (row.message.firstSeq > seq) break;
    found = index;
  }
  return found;
}
