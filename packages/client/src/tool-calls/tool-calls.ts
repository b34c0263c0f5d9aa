import { type FoldedMessage, omitUndefined, type PartState, turnOf } from "@parley/fold";
import type { InputRequestEntry, InputResponseEntry, StepId, ToolResultChunk } from "@parley/wire";
import type {
  CallInput,
  ConversationState,
  OwnResponse,
  ToolCallState,
} from "../state/conversation-state.js";
import { foldOf } from "../state/fold.js";

/** Positions of the committed messages of each step, which are adjacent. */
const ranges = new WeakMap<readonly FoldedMessage[], ReadonlyMap<StepId, readonly [number, number]>>();

/** The state of a call, kept as long as nothing in it changes. */
const made = new WeakMap<
  PartState,
  { readonly result: PartState | undefined; readonly output: string; readonly state: ToolCallState }
>();
/** A request of a call, by its message, kept as long as nothing in it changes. */
const inputs = new WeakMap<
  FoldedMessage,
  {
    readonly response: FoldedMessage | undefined;
    readonly own: OwnResponse | undefined;
    readonly input: CallInput;
  }
>();
const inputLists = new WeakMap<CallInput, readonly CallInput[]>();
const lists = new WeakMap<ToolCallState, readonly ToolCallState[]>();
const waitingLists = new WeakMap<ToolCallState, readonly ToolCallState[]>();
const none: readonly never[] = [];

/**
 * Returns the tool calls of a step, in order, each with its result as soon as there is one. It is the same array as
 * long as nothing in them changes.
 */
export function toolCallsOf(state: ConversationState, stepId: StepId): readonly ToolCallState[] {
  const { conversation, responses } = foldOf(state);
  const { log, turns } = conversation;
  const messages = [
    ...committedOf(log.committed, stepId),
    ...log.provisional.filter((message) => message.stepId === stepId),
  ];
  const results = new Map<string, PartState>();
  const entries: InputEntries = { requests: [], responses: new Map() };
  for (const message of messages) {
    for (const part of message.parts) {
      const { chunk } = part;
      if (chunk.type === "tool-result") results.set(chunk.toolCallId, part);
      const input = chunk.type === "system" ? chunk.input : undefined;
      if (input?.type === "input-request") entries.requests.push({ request: input, message });
      else if (input !== undefined) entries.responses.set(input.requestId, { response: input, message });
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
      const asked = inputsOf(entries, responses, toolCallId);
      calls.push(callState(part, results.get(toolCallId), output ?? "", turn?.status === "running", asked));
    }
  }
  return sameList(lists, calls);
}

/**
 * Returns the calls of the open turn that wait for a person or for the caller, in order. It is the same array as long
 * as nothing in them changes.
 */
export function waitingCallsOf(state: ConversationState): readonly ToolCallState[] {
  const { turns, activeTurn } = foldOf(state).conversation;
  const turn = activeTurn === undefined ? undefined : turnOf(turns, activeTurn.turnId);
  const calls = (turn?.steps ?? none).flatMap(({ stepId }) => toolCallsOf(state, stepId));
  return sameList(
    waitingLists,
    calls.filter(({ status }) => status === "waiting"),
  );
}

/** Returns the list that was made before, if it has the same members. */
function sameList<T extends object>(known: WeakMap<T, readonly T[]>, list: readonly T[]): readonly T[] {
  const [first] = list;
  if (first === undefined) return none;
  const before = known.get(first);
  if (before?.length === list.length && before.every((each, index) => each === list[index])) return before;
  known.set(first, list);
  return list;
}

/** The requests of a step, in order, and the messages of their responses by request. */
interface InputEntries {
  readonly requests: { readonly request: InputRequestEntry; readonly message: FoldedMessage }[];
  readonly responses: Map<string, Decided>;
}

interface Decided {
  readonly response: InputResponseEntry;
  readonly message: FoldedMessage;
}

function inputsOf(
  entries: InputEntries,
  responses: Readonly<Record<string, OwnResponse>>,
  toolCallId: string,
): readonly CallInput[] | undefined {
  const own = entries.requests.filter(({ request }) => request.toolCallId === toolCallId);
  if (own.length === 0) return undefined;
  const list = own.map(({ request, message }) => {
    const { requestId } = request;
    const sent = Object.hasOwn(responses, requestId) ? responses[requestId] : undefined;
    return inputOf(request, message, entries.responses.get(requestId), sent);
  });
  return sameList(inputLists, list);
}

function inputOf(
  request: InputRequestEntry,
  asked: FoldedMessage,
  decided: Decided | undefined,
  sent: OwnResponse | undefined,
): CallInput {
  // Once the log has a response, it is the decision.
  const own = decided === undefined || sent?.status === "late" ? sent : undefined;
  const before = inputs.get(asked);
  if (before !== undefined && before.response === decided?.message && before.own === own) return before.input;
  const input: CallInput = {
    request,
    ...omitUndefined({
      requestedAt: asked.createdAt,
      response: decided?.response ?? own?.response,
      respondedAt: decided?.message.createdAt,
      own,
    }),
  };
  inputs.set(asked, { response: decided?.message, own, input });
  return input;
}

function callState(
  part: PartState,
  result: PartState | undefined,
  output: string,
  isRunning: boolean,
  inputs: readonly CallInput[] | undefined,
): ToolCallState {
  const { chunk: call } = part;
  if (call.type !== "tool-call") throw new TypeError("Not a tool call");
  const answer = result?.chunk as ToolResultChunk | undefined;
  const isWaiting = inputs?.some(({ response }) => response === undefined) ?? false;
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
    before.state.inputs === inputs
  )
    return before.state;
  const state: ToolCallState = { call, output, status, ...omitUndefined({ result: answer, inputs }) };
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
