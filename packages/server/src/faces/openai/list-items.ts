import {
  type ConversationMessage,
  HiddenParts,
  hiddenEntryOfMessage,
  inputEntryOfMessage,
  outputEntryOfMessage,
  toStoredChunks,
} from "@parley/core/messages";
import {
  approvalItem,
  type CallPart,
  type ConversationItem,
  functionCallItem,
  functionOutputItem,
  inputItem,
  mcpCallItem,
  messageItem,
  reasoningItem,
} from "./items.js";

interface CallResult {
  readonly content: string;
  readonly isError: boolean;
}

/** State of a call in the rows of a log, beside the row that makes it. */
interface KnownCall {
  result?: CallResult;
  /** Set on a call that requested input. */
  request?: { readonly requestId: string; readonly kind: string };
  /** True if a turn made it: without a request it ran here. */
  isOurs: boolean;
}

/**
 * Makes the items of rows, in order, without hidden ones. Calls that ran here are one item with their result; calls of
 * the caller's tools are two. They are the same items, with the same ids, as in the responses that made them.
 */
export function rowsToItems(
  messages: readonly ConversationMessage[],
  firstSeqs: FirstSeqs = new Map(),
): ConversationItem[] {
  const hidden = new HiddenParts();
  for (const message of messages) {
    const entry = hiddenEntryOfMessage(message);
    if (entry !== undefined) hidden.add(entry);
  }
  const calls = knownCalls(messages);
  return messages.flatMap((message) =>
    itemsOf({ message, firstSeq: firstSeqs.get(message.id) }, calls, hidden),
  );
}

/** The first seq of messages by their ids, by which their files are found. */
export type FirstSeqs = ReadonlyMap<string, number>;

function knownCalls(messages: readonly ConversationMessage[]): Map<string, KnownCall> {
  const calls = new Map<string, KnownCall>();
  const of = (id: string): KnownCall => {
    const known = calls.get(id) ?? { isOurs: false };
    calls.set(id, known);
    return known;
  };
  for (const message of messages) {
    const input = inputEntryOfMessage(message);
    if (input?.type === "input-request") of(input.toolCallId).request = input;
    for (const part of message.content) {
      if (part.type === "tool-call" && part.stepId !== undefined) of(part.toolCallId ?? "").isOurs = true;
      if (part.type !== "tool-result") continue;
      const { resultText = String(part.result), isError = false } = part;
      of(part.toolCallId ?? "").result = { content: resultText, isError };
    }
  }
  return calls;
}

function itemsOf(
  { message, firstSeq = 0 }: { readonly message: ConversationMessage; readonly firstSeq: number | undefined },
  calls: ReadonlyMap<string, KnownCall>,
  hidden: HiddenParts,
): ConversationItem[] {
  const { id: messageId, role, content } = message;
  const isEntry = [inputEntryOfMessage, outputEntryOfMessage, hiddenEntryOfMessage].some(
    (entryOf) => entryOf(message) !== undefined,
  );
  if (isEntry) return [];
  if (role === "user" || role === "system") {
    const isSaid = content.some((part) => part.type === "file" || (part.type === "text" && part.text !== ""));
    if (!isSaid || hidden.has(messageId, 0)) return [];
    const chunks = toStoredChunks(message, { firstSeq }).map(({ chunk }) => chunk);
    return [inputItem({ conversationId: message.conversationId, messageId }, role, chunks)];
  }
  return content.flatMap((part, partIndex): ConversationItem[] => {
    if (hidden.has(messageId, partIndex)) return [];
    const place = { messageId, partIndex };
    if (part.type === "text") return part.text === "" ? [] : [messageItem(place, part.text)];
    if (part.type === "reasoning") return part.text === "" ? [] : [reasoningItem(place, part.text)];
    if (part.type === "tool-call") {
      const { toolCallId = "", name: toolName, argumentsText = "{}" } = part;
      return callItems(place, { toolCallId, toolName, argumentsText }, calls.get(toolCallId));
    }
    if (part.type !== "tool-result") return [];
    const known = calls.get(part.toolCallId ?? "");
    const isTheirs = known?.isOurs !== true || known.request?.kind === "tool-output";
    if (!isTheirs) return [];
    return [functionOutputItem({ messageId }, part.toolCallId ?? "", part.resultText ?? String(part.result))];
  });
}

function callItems(
  place: { readonly messageId: string; readonly partIndex: number },
  call: CallPart,
  known: KnownCall | undefined,
): ConversationItem[] {
  const { request, result, isOurs = false } = known ?? {};
  if (!isOurs || request?.kind === "tool-output") return [functionCallItem(place, call)];
  if (request === undefined) return [mcpCallItem(place, call, result)];
  const asked = approvalItem(request.requestId, call);
  return result === undefined ? [asked] : [asked, mcpCallItem(place, call, result, asked.id)];
}

/** Query for the items of a list. */
export interface ItemsQuery {
  readonly order?: "asc" | "desc" | undefined;
  readonly limit?: string | undefined;
  readonly after?: string | undefined;
}

/** Returns the number of items that a page may have. */
export function limitOf({ limit }: ItemsQuery): number {
  return Math.min(100, Math.max(1, Number(limit ?? "20")));
}

/** Makes a page of items. */
export function pageOf(items: readonly { readonly id: string }[], hasMore: boolean) {
  return {
    object: "list" as const,
    data: items as object[] as Record<string, unknown>[],
    first_id: items[0]?.id ?? null,
    last_id: items.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

/** Makes a page of items, given oldest first. */
export function listOf(items: readonly { readonly id: string }[], query: ItemsQuery) {
  const { order = "desc", after } = query;
  const ordered = order === "asc" ? items : items.toReversed();
  const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  const most = limitOf(query);
  return pageOf(ordered.slice(from, from + most), from + most < ordered.length);
}
