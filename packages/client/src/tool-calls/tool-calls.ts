import { type FoldedMessage, omitUndefined, type PartState, turnOf } from "@parley/fold";
import type { InputEntry, StepId, ToolResultChunk } from "@parley/wire";
import type {
  CallInput,
  ConversationState,
  OwnResponse,
  ToolCallState,
} from "../state/conversation-state.js";
import { foldOf } from "../state/fold.js";

/** Where the committed messages of each step stand. They stand next to each other. */
const ranges = new WeakMap<readonly FoldedMessage[], ReadonlyMap<StepId, readonly [number, number]>>();

/** What was made of a call, kept as long as nothing in it changes. */
const made = new WeakMap<
  PartState,
  { readonly result: PartState | undefined; readonly output: string; readonly state: ToolCallState }
>();
/** The input of a call, by the message of its request, kept as long as nothing in it changes. */
const inputs = new WeakMap<
  FoldedMessage,
  {
    readonly response: FoldedMessage | undefined;
    readonly own: OwnResponse | undefined;
    readonly input: CallInput;
  }
>();
const lists = new WeakMap<ToolCallState, readonly ToolCallState[]>();
const waitingLists = new WeakMap<ToolCallState, readonly ToolCallState[]>();
const none: readonly ToolCallState[] = [];

/**
 * The tool calls of a step, in order, each with its result as soon as there is one. As long as nothing changes in
 * them it is the same array.
 */
export function toolCallsOf(state: ConversationState, stepId: StepId): readonly ToolCallState[] {
  const { conversation, responses } = foldOf(state);
  const { log, turns } = conversation;
  const messages = [
    ...committedOf(log.committed, stepId),
    ...log.provisional.filter((message) => message.stepId === stepId),
  ];
  const results = new Map<string, PartState>();
  const entries: InputEntries = { requests: new Map(), responses: new Map() };
  for (const message of messages) {
    for (const { chunk } of message.parts) {
      if (chunk.type === "system" && chunk.input !== undefined) addEntry(entries, chunk.input, message);
    }
    for (const part of message.parts) {
      if (part.chunk.type === "tool-result") results.set(part.chunk.toolCallId, part);
    }
  }
  const calls: ToolCallState[] = [];
  for (const { parts, turnId } of messages) {
    const turn = turnId === undefined ? undefined : turnOf(turns, turnId);
    for (const part of parts) {
      if (part.chunk.type !== "tool-call") continue;
      const { toolCallId } = part.chunk;
      const printed = turn?.toolOutput;
      const output = printed !== undefined && Object.hasOwn(printed, toolCallId) ? printed[toolCallId] : "";
      const input = inputOf(entries, responses, toolCallId);
      calls.push(callState(part, results.get(toolCallId), output ?? "", turn?.status === "running", input));
    }
  }
  return sameList(lists, calls);
}

/**
 * The calls of the open turn that wait for a person or for the caller, in order. As long as nothing changes in them it
 * is the same array.
 */
export function waitingCallsOf(state: ConversationState): readonly ToolCallState[] {
  const { log, activeTurn } = foldOf(state).conversation;
  if (activeTurn === undefined) return none;
  const steps = new Set<StepId>();
  for (const { turnId, stepId } of log.provisional) {
    if (turnId === activeTurn.turnId && stepId !== undefined) steps.add(stepId);
  }
  // The turn's rows stand at the end of the log.
  for (let index = log.committed.length - 1; index >= 0; index -= 1) {
    const { turnId, stepId } = log.committed[index] as FoldedMessage;
    if (turnId !== undefined && turnId !== activeTurn.turnId) break;
    if (turnId !== undefined && stepId !== undefined) steps.add(stepId);
  }
  const calls = [...steps].flatMap((stepId) => toolCallsOf(state, stepId));
  return sameList(
    waitingLists,
    calls.filter(({ status }) => status === "waiting"),
  );
}

/** The list that was made before, if it has the same calls. */
function sameList(
  known: WeakMap<ToolCallState, readonly ToolCallState[]>,
  calls: readonly ToolCallState[],
): readonly ToolCallState[] {
  const [first] = calls;
  if (first === undefined) return none;
  const before = known.get(first);
  if (before?.length === calls.length && before.every((call, index) => call === calls[index])) return before;
  known.set(first, calls);
  return calls;
}

/** Messages of a step that hold a request or a response, by call. */
interface InputEntries {
  readonly requests: Map<string, FoldedMessage>;
  readonly responses: Map<string, FoldedMessage>;
}

function addEntry(entries: InputEntries, input: InputEntry, message: FoldedMessage): void {
  const list = input.type === "input-request" ? entries.requests : entries.responses;
  list.set(input.toolCallId, message);
}

function entryOf(message: FoldedMessage | undefined): InputEntry | undefined {
  const chunk = message?.parts[0]?.chunk;
  return chunk?.type === "system" ? chunk.input : undefined;
}

function inputOf(
  entries: InputEntries,
  responses: Readonly<Record<string, OwnResponse>>,
  toolCallId: string,
): CallInput | undefined {
  const asked = entries.requests.get(toolCallId);
  const request = entryOf(asked);
  if (asked === undefined || request?.type !== "input-request") return undefined;
  const decided = entries.responses.get(toolCallId);
  const { requestId } = request;
  const sent = Object.hasOwn(responses, requestId) ? responses[requestId] : undefined;
  // Once the log has a response, it is the decision.
  const own = decided === undefined || sent?.status === "late" ? sent : undefined;
  const before = inputs.get(asked);
  if (before !== undefined && before.response === decided && before.own === own) return before.input;
  const entry = entryOf(decided);
  const input: CallInput = {
    request,
    ...omitUndefined({
      requestedAt: asked.createdAt,
      response: entry?.type === "input-response" ? entry : own?.response,
      respondedAt: decided?.createdAt,
      own,
    }),
  };
  inputs.set(asked, { response: decided, own, input });
  return input;
}

function callState(
  part: PartState,
  result: PartState | undefined,
  output: string,
  isRunning: boolean,
  input: CallInput | undefined,
): ToolCallState {
  const { chunk: call } = part;
  if (call.type !== "tool-call") throw new TypeError("Not a tool call");
  const answer = result?.chunk as ToolResultChunk | undefined;
  const isWaiting = input !== undefined && input.response === undefined;
  const status =
    answer !== undefined || !isRunning
      ? answer?.isError
        ? "failed"
        : "done"
      : isWaiting
        ? "waiting"
        : "running";
  const before = made.get(part);
  if (
    before?.result === result &&
    before?.output === output &&
    before.state.status === status &&
    before.state.input === input
  )
    return before.state;
  const state: ToolCallState = { call, output, status, ...omitUndefined({ result: answer, input }) };
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
