import { omitUndefined } from "@parley/fold";
import { ownMessages } from "../canonical/normalize-message.js";
import { derivedMessageId, pieceEnvelope, splitResults } from "../canonical/split-results.js";
import type { ConversationMessage } from "../message.js";
import type { MessageContentPart, ToolCallContentPart } from "../part.js";
import { hashText } from "../text/hash.js";
import { createCallLedger } from "./call-ledger.js";

/** Text that the model reads if a call has no result. Part of stored and sent history: it must not change. */
export const interruptedResultText = "The call was interrupted before it had a result.";

/**
 * Kind of repair. `result-synthesized`: a call had no result and got one that says so. `orphan-removed`: a result
 * answered no call. `duplicate-removed`: a call already had a result. `result-moved`: a result did not follow its
 * call, in call order. `call-removed`: a call was in a message that is not the assistant's.
 */
export type RepairKind =
  | "result-synthesized"
  | "orphan-removed"
  | "duplicate-removed"
  | "result-moved"
  | "call-removed";

/** One change that a repair made. */
export interface Repair {
  readonly kind: RepairKind;
  readonly toolCallId: string;
  /** The message that held the part; for a synthesized result, the message that made the call. */
  readonly messageId: string;
}

export interface RepairedHistory {
  readonly messages: readonly ConversationMessage[];
  /** Empty exactly if the history was healthy. */
  readonly repairs: readonly Repair[];
}

/** Returns the tool message that replaces a call's missing result. The same call always gives the same message. */
export function interruptedResult(assistant: ConversationMessage, callIndex: number): ConversationMessage {
  const call = assistant.content[callIndex];
  const { name, toolCallId, stepId } = call?.type === "tool-call" ? call : unknownCall;
  const id = `interrupted_${hashText(`${assistant.id}\n${callIndex}\n${toolCallId}`)}`;
  return {
    id,
    ...pieceEnvelope(assistant, "tool"),
    content: [
      {
        type: "tool-result",
        name,
        result: interruptedResultText,
        resultText: interruptedResultText,
        toolCallId: toolCallId ?? "",
        isError: true,
        interrupted: true,
        ...omitUndefined({ stepId }),
      },
    ],
  };
}

const unknownCall: Pick<ToolCallContentPart, "name" | "toolCallId" | "stepId"> = { name: "unknown" };

/**
 * Repairs any history so that a provider accepts it: each assistant message with calls is followed by tool messages
 * that hold exactly one result per call, in call order, and there are no other results.
 *
 * A result belongs to the nearest unanswered call before it with its id, so ids that repeat in later steps are no
 * problem. Of several results the first counts. Messages between a call and its result (steering, for example) move
 * after the results; nothing else changes its order. Nothing is invented except results that say the call was
 * interrupted, and those are the same every time. Messages that need no change are returned as they are, a healthy
 * history as a whole; repairing twice changes nothing.
 */
export function repairHistory(history: readonly ConversationMessage[]): RepairedHistory {
  const repairs: Repair[] = [];
  const own = ownMessages(history);
  if (!own.some(hasToolPart)) return { messages: own, repairs };
  const separated = separateResults(own);
  const plan = pair(separated.messages, repairs);
  return { messages: place(separated, plan, repairs), repairs };
}

/** Position of a part: its message, and its place in it. */
interface PartAt {
  readonly message: number;
  readonly part: number;
}

interface Call {
  readonly part: number;
  readonly toolCallId: string;
  result?: PartAt;
}

interface Plan {
  /** The calls of each message, in order. */
  readonly calls: readonly (readonly Call[])[];
  /** The parts of each message that are neither results nor removed. */
  readonly staying: readonly (readonly number[])[];
  /** Number of results of each message that answer a call. */
  readonly answering: readonly number[];
}

/** The history with its assistant messages cut at their results, so that the parts after a result stay after it. */
interface Separated {
  readonly messages: readonly ConversationMessage[];
  /** The tool messages that were cut out, by index. */
  readonly cut: ReadonlySet<number>;
}

function separateResults(history: readonly ConversationMessage[]): Separated {
  const cut = new Set<number>();
  if (!history.some((message) => message.role === "assistant" && message.content.some(isResult))) {
    return { messages: history, cut };
  }
  const messages: ConversationMessage[] = [];
  for (const message of history) {
    for (const piece of splitResults(message)) {
      if (piece.role !== message.role) cut.add(messages.length);
      messages.push(piece);
    }
  }
  return { messages, cut };
}

function pair(messages: readonly ConversationMessage[], repairs: Repair[]): Plan {
  const ledger = createCallLedger<Call>();
  const calls: Call[][] = messages.map(() => []);
  const staying: number[][] = messages.map(() => []);
  const answering = messages.map(() => 0);
  messages.forEach((message, index) => {
    message.content.forEach((part, partIndex) => {
      if (part.type === "tool-call") {
        const toolCallId = part.toolCallId ?? "";
        if (message.role !== "assistant") {
          repairs.push(repairOf("call-removed", toolCallId, message));
          return;
        }
        const call: Call = { part: partIndex, toolCallId };
        calls[index]?.push(call);
        ledger.add(index, toolCallId, call);
      } else if (part.type === "tool-result") {
        const toolCallId = part.toolCallId ?? "";
        const call = ledger.answer(toolCallId);
        if (call === undefined) {
          const kind = ledger.knows(toolCallId) ? "duplicate-removed" : "orphan-removed";
          repairs.push(repairOf(kind, toolCallId, message));
          return;
        }
        call.result = { message: index, part: partIndex };
        answering[index] = (answering[index] ?? 0) + 1;
        return;
      }
      staying[index]?.push(partIndex);
    });
  });
  return { calls, staying, answering };
}

function place({ messages, cut }: Separated, plan: Plan, repairs: Repair[]): readonly ConversationMessage[] {
  const placed: ConversationMessage[] = [];
  const done = messages.map(() => false);
  // The first message that is still to come: a result that is taken from after it has moved.
  let next = 0;
  const isNext = (index: number) => {
    while (next < messages.length && (done[next] || !survives(next))) next++;
    return next === index;
  };
  const survives = (index: number) =>
    (plan.staying[index]?.length ?? 0) > 0 ||
    (messages[index]?.role === "tool" && (plan.answering[index] ?? 0) > 0);
  const pieces = new Map<number, number>();

  messages.forEach((message, index) => {
    if (done[index] || !survives(index)) return;
    done[index] = true;
    placed.push(withParts(message, plan.staying[index] ?? []));
    for (const group of resultGroups(plan.calls[index] ?? [])) {
      const [first] = group;
      const from = first?.result?.message;
      const source = from === undefined ? undefined : messages[from];
      if (first === undefined) continue;
      if (from === undefined || source === undefined) {
        repairs.push(repairOf("result-synthesized", first.toolCallId, message));
        placed.push(interruptedResult(message, first.part));
        continue;
      }
      const piece = pieces.get(from) ?? 0;
      pieces.set(from, piece + 1);
      const whole = source.role === "tool" && piece === 0;
      if (!whole || cut.has(from) || !isNext(from) || !ascends(group)) {
        for (const call of group) repairs.push(repairOf("result-moved", call.toolCallId, source));
      }
      const emptied = source.role !== "tool" && (plan.staying[from]?.length ?? 0) === 0 && piece === 0;
      if (whole) {
        done[from] = true;
        placed.push(withParts(source, inCallOrder(group, plan.staying[from] ?? [])));
      } else {
        placed.push({
          id: emptied ? source.id : derivedMessageId(source.id, `result:${piece}`),
          ...pieceEnvelope(source, "tool"),
          content: partsAt(source, partsOf(group)),
        });
      }
    }
  });
  return isSame(messages, placed) ? messages : placed;
}

/** Groups adjacent calls whose results are in the same message; a call without a result is its own group. */
function resultGroups(calls: readonly Call[]): Call[][] {
  const groups: Call[][] = [];
  for (const call of calls) {
    const last = groups.at(-1);
    const from = call.result?.message;
    if (from !== undefined && last?.[0]?.result?.message === from) last.push(call);
    else groups.push([call]);
  }
  return groups;
}

function partsOf(group: readonly Call[]): number[] {
  return group.flatMap((call) => (call.result === undefined ? [] : [call.result.part]));
}

function ascends(group: readonly Call[]): boolean {
  return partsOf(group).every((part, index, parts) => index === 0 || (parts[index - 1] ?? 0) < part);
}

/** Returns the message's other parts in their places, and in the places of its results the group's, in call order. */
function inCallOrder(group: readonly Call[], staying: readonly number[]): number[] {
  const results = partsOf(group);
  const isStaying = new Set(staying);
  const places = [...results, ...staying].sort((left, right) => left - right);
  let taken = 0;
  return places.map((part) => (isStaying.has(part) ? part : (results[taken++] ?? part)));
}

function withParts(message: ConversationMessage, parts: readonly number[]): ConversationMessage {
  const same = parts.length === message.content.length && parts.every((part, index) => part === index);
  return same ? message : { ...message, content: partsAt(message, parts) };
}

function partsAt(message: ConversationMessage, parts: readonly number[]): MessageContentPart[] {
  return parts.flatMap((index) => message.content[index] ?? []);
}

function isSame(before: readonly ConversationMessage[], after: readonly ConversationMessage[]): boolean {
  return before.length === after.length && before.every((message, index) => message === after[index]);
}

function isResult(part: MessageContentPart): boolean {
  return part.type === "tool-result";
}

function hasToolPart({ content }: ConversationMessage): boolean {
  return content.some((part) => part.type === "tool-call" || part.type === "tool-result");
}

function repairOf(kind: RepairKind, toolCallId: string | undefined, message: ConversationMessage): Repair {
  return { kind, toolCallId: toolCallId ?? "", messageId: message.id };
}
