import type { ConversationState, MessageState, PartState, TurnState } from "@parley/client";
import { omitUndefined } from "@parley/fold";
import type {
  FileReference,
  InputRequestEntry,
  InputResponseEntry,
  ToolCallChunk,
  ToolResultChunk,
} from "@parley/wire";

import { describeFile } from "../files/describe-file.js";

/** One thing that is shown of a conversation, in the order in which it happened. */
export type Entry =
  | UserEntry
  | TextEntry
  | ThinkingEntry
  | ToolEntry
  | SummaryEntry
  | ErrorEntry
  | AttachmentEntry
  | EndEntry;

interface EntryBase {
  /** The same while it grows and when it is done. */
  readonly key: string;
  /** Nothing of it will change any more. */
  readonly done: boolean;
}

export interface UserEntry extends EntryBase {
  readonly kind: "user";
  readonly text: string;
  /** It came into a turn that was already running. */
  readonly isSteer: boolean;
  readonly status: MessageState["status"];
  readonly problem?: string;
}

export interface TextEntry extends EntryBase {
  readonly kind: "text";
  readonly text: string;
}

export interface ThinkingEntry extends EntryBase {
  readonly kind: "thinking";
  readonly text: string;
}

export interface ToolEntry extends EntryBase {
  readonly kind: "tool";
  readonly name: string;
  /** The arguments as the model wrote them. */
  readonly input: string;
  /** Its output so far. */
  readonly output: string;
  readonly status: "running" | "waiting" | "done" | "stopped" | "failed";
  readonly result?: string;
  readonly durationMs?: number;
  /** The request for somebody's decision, where the call needed one. */
  readonly request?: InputRequestEntry;
  /** The decision on it. */
  readonly decision?: InputResponseEntry;
}

export interface SummaryEntry extends EntryBase {
  readonly kind: "summary";
  readonly text: string;
  readonly covers?: { readonly firstSeq: number; readonly lastSeq: number };
  /** Its own place in the log. */
  readonly seq?: number;
}

export interface ErrorEntry extends EntryBase {
  readonly kind: "error";
  readonly message: string;
  readonly code?: string;
}

/** A file, a source or data: named, not shown. */
export interface AttachmentEntry extends EntryBase {
  readonly kind: "attachment";
  readonly text: string;
}

export interface EndEntry extends EntryBase {
  readonly kind: "end";
  readonly turn: TurnState;
  /** The error of the turn, unless an entry before this one has it. */
  readonly error?: TurnState["error"];
  readonly contextWindow?: number;
}

/** Returns the entries of a conversation's state, in order. Tool results are part of their calls. */
export function entriesOf(state: ConversationState): Entry[] {
  const { results, calls, inputs } = callsOf(state);
  const entries: Entry[] = [];
  const opened = new Set<string>();
  const shown = new Map<string, string>();
  state.messages.forEach((message, index) => {
    for (const part of message.parts) {
      const entry = entryOf(message, part, { state, results, calls, inputs, opened });
      if (entry !== undefined) entries.push(entry);
      if (entry?.kind === "error" && message.turnId !== undefined) shown.set(message.turnId, entry.message);
    }
    if (message.turnId === undefined) return;
    opened.add(message.turnId);
    const turn = state.turns[message.turnId];
    const isLast = state.messages[index + 1]?.turnId !== message.turnId;
    if (isLast && turn?.status === "sealed") {
      // Rows alone do not show whether their turn still runs: the last one has ended when its end is known.
      const done = turn.reason !== undefined || index + 1 < state.messages.length;
      entries.push({ ...endOf(turn, state, shown.get(turn.turnId)), done });
    }
  });
  return entries;
}

/** The calls of a conversation, by the key that `callKey` makes, with what belongs to them. */
interface Calls {
  readonly results: ReadonlyMap<string, ToolResultChunk>;
  readonly calls: ReadonlySet<string>;
  readonly inputs: ReadonlyMap<string, CallInput>;
}

interface CallInput {
  readonly request?: InputRequestEntry;
  readonly decision?: InputResponseEntry;
}

function callsOf({ messages }: ConversationState): Calls {
  const results = new Map<string, ToolResultChunk>();
  const calls = new Set<string>();
  const inputs = new Map<string, CallInput>();
  for (const message of messages) {
    for (const { chunk } of message.parts) {
      if (chunk.type === "tool-result") results.set(callKey(message, chunk), chunk);
      if (chunk.type === "tool-call") calls.add(callKey(message, chunk));
      if (chunk.type !== "system" || chunk.input === undefined) continue;
      const { input } = chunk;
      const key = callKey(message, input);
      const more = input.type === "input-request" ? { request: input } : { decision: input };
      inputs.set(key, { ...inputs.get(key), ...more });
    }
  }
  return { results, calls, inputs };
}

/** Names a call. Some providers restart their call ids in each step, so the id alone is not enough. */
function callKey({ stepId }: MessageState, { toolCallId }: { readonly toolCallId: string }): string {
  return `${stepId ?? ""} ${toolCallId}`;
}

interface Surroundings extends Calls {
  readonly state: ConversationState;
  /** Turns of which a message was seen already. */
  readonly opened: ReadonlySet<string>;
}

function entryOf(message: MessageState, part: PartState, around: Surroundings): Entry | undefined {
  const { chunk, key } = part;
  const done = !part.streaming;
  switch (chunk.type) {
    case "text":
      if (chunk.file !== undefined) return fileEntry(message, part, chunk.file);
      return message.role === "user"
        ? userEntry(message, key, chunk.text, around)
        : { kind: "text", key, done, text: chunk.text };
    case "thinking":
      return chunk.text === "" ? undefined : { kind: "thinking", key, done, text: chunk.text };
    case "tool-call":
      return toolEntry(message, key, chunk, around);
    case "tool-result":
      // The call lies before what is loaded: the result stands for both.
      return around.calls.has(callKey(message, chunk))
        ? undefined
        : { kind: "tool", key, ...resultOf(chunk), name: chunk.toolName, input: "", output: "" };
    case "system":
      if (chunk.input !== undefined)
        return around.calls.has(callKey(message, chunk.input))
          ? undefined
          : { kind: "attachment", key, done, text: chunk.text };
      return {
        kind: "summary",
        key,
        done,
        text: chunk.text,
        ...omitUndefined({ covers: chunk.covers, seq: message.firstSeq }),
      };
    case "error":
      return {
        kind: "error",
        key,
        done,
        message: chunk.message,
        ...omitUndefined({ code: chunk.code }),
      };
    case "source":
      return {
        kind: "attachment",
        key,
        done,
        text: `source ${[chunk.title, chunk.url].filter(Boolean).join(" ")}`,
      };
    case "data":
      return { kind: "attachment", key, done, text: "data" };
    default:
      return { kind: "attachment", key, done, text: "something that this version does not know" };
  }
}

function fileEntry(
  { role, status }: MessageState,
  { key, streaming }: PartState,
  file: FileReference,
): Entry {
  const text = `file ${describeFile({ ...file, name: file.name ?? "" })}`;
  const isKept = role !== "user" || status === "committed" || status === "streaming";
  return { kind: "attachment", key, done: isKept && !streaming, text };
}

function userEntry(message: MessageState, key: string, text: string, { opened }: Surroundings): UserEntry {
  const { status, turnId, error } = message;
  return {
    kind: "user",
    key,
    text,
    status,
    isSteer: turnId !== undefined && opened.has(turnId),
    done: status === "committed" || status === "streaming",
    ...(error === undefined ? {} : { problem: error.message }),
  };
}

function toolEntry(message: MessageState, key: string, call: ToolCallChunk, around: Surroundings): ToolEntry {
  const result = around.results.get(callKey(message, call));
  const input = around.inputs.get(callKey(message, call)) ?? {};
  const turn = message.turnId === undefined ? undefined : around.state.turns[message.turnId];
  const written = call.argumentsText ?? JSON.stringify(call.input) ?? "";
  const output = turn?.toolOutput[call.toolCallId] ?? "";
  const base = { kind: "tool" as const, key, name: call.toolName, input: written, output, ...input };
  if (result !== undefined) return { ...base, ...resultOf(result) };
  if (input.request !== undefined && input.decision === undefined)
    return { ...base, done: false, status: "waiting" };
  const running = turn?.status === "running";
  return { ...base, done: !running, status: running ? "running" : "done" };
}

function resultOf(
  result: ToolResultChunk,
): Pick<ToolEntry, "done" | "status" | "result"> & { durationMs?: number } {
  return {
    done: true,
    status: result.interrupted ? "stopped" : result.isError ? "failed" : "done",
    result: result.content,
    ...omitUndefined({ durationMs: result.durationMs }),
  };
}

function endOf(
  turn: TurnState,
  { contextWindow }: ConversationState,
  shownError: string | undefined,
): Omit<EndEntry, "done"> {
  const { error } = turn;
  return {
    kind: "end",
    key: `end ${turn.turnId}`,
    turn,
    ...(error === undefined || error.message === shownError ? {} : { error }),
    ...omitUndefined({ contextWindow }),
  };
}
