import { type FoldedMessage, omitUndefined, type PartState, turnOf } from "@parley/fold";
import type { StepId, ToolResultChunk } from "@parley/wire";
import type { ConversationState, ToolCallState } from "./conversation-state.js";
import { foldOf } from "./fold.js";

/** Where the committed messages of each step stand. They stand next to each other. */
const ranges = new WeakMap<readonly FoldedMessage[], ReadonlyMap<StepId, readonly [number, number]>>();

/** What was made of a call, kept as long as nothing in it changes. */
const made = new WeakMap<
  PartState,
  { readonly result: PartState | undefined; readonly output: string; readonly state: ToolCallState }
>();
const lists = new WeakMap<ToolCallState, readonly ToolCallState[]>();
const none: readonly ToolCallState[] = [];

/**
 * The tool calls of a step, in order, each with its result as soon as there is one. As long as nothing changes in
 * them it is the same array.
 */
export function toolCallsOf(state: ConversationState, stepId: StepId): readonly ToolCallState[] {
  const { log, turns } = foldOf(state).conversation;
  const messages = [
    ...committedOf(log.committed, stepId),
    ...log.provisional.filter((message) => message.stepId === stepId),
  ];
  const results = new Map<string, PartState>();
  for (const { parts } of messages) {
    for (const part of parts) if (part.chunk.type === "tool-result") results.set(part.chunk.toolCallId, part);
  }
  const calls: ToolCallState[] = [];
  for (const { parts, turnId } of messages) {
    const turn = turnId === undefined ? undefined : turnOf(turns, turnId);
    for (const part of parts) {
      if (part.chunk.type !== "tool-call") continue;
      const { toolCallId } = part.chunk;
      const printed = turn?.toolOutput;
      const output = printed !== undefined && Object.hasOwn(printed, toolCallId) ? printed[toolCallId] : "";
      calls.push(callState(part, results.get(toolCallId), output ?? "", turn?.status === "running"));
    }
  }
  const [first] = calls;
  if (first === undefined) return none;
  const before = lists.get(first);
  if (before?.length === calls.length && before.every((call, index) => call === calls[index])) return before;
  lists.set(first, calls);
  return calls;
}

function callState(
  part: PartState,
  result: PartState | undefined,
  output: string,
  isRunning: boolean,
): ToolCallState {
  const { chunk: call } = part;
  if (call.type !== "tool-call") throw new TypeError("Not a tool call");
  const answer = result?.chunk as ToolResultChunk | undefined;
  const status = answer?.isError ? "failed" : answer === undefined && isRunning ? "running" : "done";
  const before = made.get(part);
  if (before?.result === result && before?.output === output && before.state.status === status)
    return before.state;
  const state: ToolCallState = { call, output, status, ...omitUndefined({ result: answer }) };
  made.set(part, { result, output, state });
  return state;
}

function committedOf(committed: readonly FoldedMessage[], stepId: StepId): readonly FoldedMessage[] {
  let known = ranges.get(committed);
  if (known === undefined) {
    const found = new Map<StepId, readonly [number, number]>();
    for (const [index, message] of committed.entries()) {
      if (message.stepId === undefined) continue;
      found.set(message.stepId, [found.get(message.stepId)?.[0] ?? index, index + 1]);
    }
    known = found;
    ranges.set(committed, known);
  }
  const range = known.get(stepId);
  return range === undefined ? [] : committed.slice(...range);
}
