import { type ConversationMessage, inputEntryOfMessage, inputMessage } from "@parley/core/messages";
import type { CommitResult, HistoryEntry, InputRequest, LogStore, RespondResult } from "@parley/core/ports";
import type { InputRequestEntry, InputResponseEntry } from "@parley/wire";
import { checkEqual } from "../contract-case.js";
import {
  callingMessage,
  type HeldTurn,
  heldTurn,
  type JournaledTurn,
  type Scenario,
  uniqueId,
} from "./scenario.js";

/** A turn that waits, and the requests that it waits for. */
export interface WaitingTurn extends JournaledTurn {
  readonly requestIds: readonly string[];
}

export function requestOf(turn: HeldTurn, index: number, given: Partial<InputRequest> = {}): InputRequest {
  const stepId = `${turn.turnId}.0`;
  return {
    type: "input-request",
    requestId: `${stepId}.${index}`,
    kind: "approval",
    toolCallId: `call-${index}`,
    toolName: "weather",
    argumentsHash: "ab12",
    stepId,
    toolHash: "cd34",
    argumentsText: '{"city": "Oslo", "days": 1.0}',
    ...given,
  };
}

export function entryOf(request: InputRequest): InputRequestEntry {
  const { type, requestId, kind, toolCallId, toolName, argumentsHash } = request;
  return { type, requestId, kind, toolCallId, toolName, argumentsHash };
}

function requestMessage({ conversationId }: HeldTurn, request: InputRequest): ConversationMessage {
  return inputMessage(entryOf(request), { conversationId, createdAt: new Date(1_700_000_000_200) });
}

export function responseTo(requestId: string, given: Partial<InputResponseEntry> = {}): InputResponseEntry {
  return {
    type: "input-response",
    requestId,
    toolCallId: `call-${requestId.at(-1)}`,
    toolName: "weather",
    decision: "allow",
    by: { owner: "someone", keyId: "k1", label: "pk_1" },
    via: "http",
    ...given,
  };
}

/** Commits a step whose calls are requests, and lets it wait unless `wait` is false. */
export function ask(
  s: Scenario,
  turn: HeldTurn,
  requests: readonly InputRequest[],
  options: { readonly wait?: boolean; readonly messages?: readonly ConversationMessage[] } = {},
): Promise<CommitResult> {
  const calls = requests.map(({ toolCallId }) => callingMessage(turn.conversationId, toolCallId));
  const asked = requests.map((request) => requestMessage(turn, request));
  return s.store.commitStep({
    ...heldTurn(turn),
    stepId: `${turn.turnId}.0`,
    messages: [...(options.messages ?? calls), ...asked],
    promoteSteers: false,
    steps: [],
    providerCalls: [],
    inputs: [...requests],
    wait: options.wait ?? true,
  });
}

export async function waiting(
  s: Scenario,
  given: readonly Partial<InputRequest>[] = [{}],
): Promise<WaitingTurn> {
  const turn = await s.start();
  const requests = given.map((each, index) => requestOf(turn, index, each));
  const { waiting: isWaiting } = await ask(s, turn, requests);
  checkEqual(isWaiting?.count, given.length, "what the turn waits for");
  return { ...turn, requestIds: requests.map(({ requestId }) => requestId) };
}

export function respond(
  s: Scenario,
  turn: WaitingTurn | (HeldTurn & { readonly requestIds: readonly string[] }),
  index: number,
  given: Partial<InputResponseEntry> & {
    readonly node?: string;
    readonly hash?: string;
    readonly through?: LogStore;
  } = {},
): Promise<RespondResult> {
  const { node = s.node, hash = "ab12", through = s.store, ...response } = given;
  const requestId = turn.requestIds[index] ?? "";
  return through.respond({
    conversationId: turn.conversationId,
    requestId,
    node,
    argumentsHash: hash,
    response: responseTo(requestId, response),
    grantId: uniqueId(),
  });
}

/** Returns the entries about input in a log, as type and decision. */
export function inputsIn(entries: readonly HistoryEntry[]): string[] {
  return entries.flatMap(({ message: said }) => {
    const entry = inputEntryOfMessage(said);
    if (entry === undefined) return [];
    return [entry.type === "input-request" ? "request" : `${entry.decision} ${entry.via}`];
  });
}
