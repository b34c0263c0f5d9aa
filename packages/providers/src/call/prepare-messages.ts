import {
  type ConversationMessage,
  hashText,
  isOwnMessage,
  type MessageContentPart,
  type MessageOrigin,
  type MessageRole,
  messageOrigin,
  normalizeMessages,
  omitUndefined,
  repairHistory,
} from "@parley/core/messages";
import type { ProviderMessage } from "@parley/core/ports";
import { Journal } from "./journal.js";

/** A message that can be lowered without further checks of its shape. */
export interface PreparedMessage {
  readonly role: MessageRole;
  readonly content: readonly MessageContentPart[];
  readonly origin?: MessageOrigin;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** An API's rule for call ids. */
export interface CallIdRule {
  /** Ids that do not match are replaced. */
  readonly pattern: RegExp;
  readonly maxLength: number;
}

/** The rule that satisfies every API known so far. */
export const commonCallIds: CallIdRule = { pattern: /^[a-zA-Z0-9_-]+$/, maxLength: 64 };

/**
 * Converts any messages to ones that an API accepts: every part in Parley's own form, exactly one result per
 * call right after it and in call order, no other results, only results in tool messages (their other content
 * follows as the user's), and call ids that are valid and unique. Histories that were repaired before pass
 * unchanged. An id that must be replaced is always replaced by the same one, and later messages never change
 * how an earlier one was converted, so a prefix stays a prefix.
 */
export function prepareMessages(
  messages: readonly ProviderMessage[],
  rule: CallIdRule = commonCallIds,
): PreparedMessage[] {
  return prepareFrom(messages, new Journal<string>(), rule).messages;
}

/** Messages that were prepared after others. */
export interface Preparation {
  readonly messages: PreparedMessage[];
  /** True if each message became exactly one, because nothing had to be repaired or split. */
  readonly isHealthy: boolean;
}

/**
 * Prepares messages like `prepareMessages`, after healthy messages that were prepared before. `used` holds
 * the call ids of those, and then also the new ones.
 */
export function prepareFrom(
  messages: readonly ProviderMessage[],
  used: Journal<string>,
  rule: CallIdRule = commonCallIds,
): Preparation {
  const { messages: repaired, repairs } = repairHistory(toConversation(messages));
  const unique = uniqueCallIds(repaired.map(toPrepared), used, rule);
  const alone = resultsAlone(unique);
  const isSame = alone.length === messages.length && alone.every((message, at) => message === unique[at]);
  return { messages: alone, isHealthy: repairs.length === 0 && isSame };
}

/** Returns true if a message is already in Parley's own form. */
export function isOwn(message: ProviderMessage): boolean {
  return toConversation([message]).every(isOwnMessage);
}

/** Returns true if a message cannot change. */
export function isFrozen(message: ProviderMessage): boolean {
  const { content } = message;
  return Object.isFrozen(message) && Object.isFrozen(content) && content.every(Object.isFrozen);
}

/**
 * Prepares messages like `prepareMessages`, but keeps results whose calls are elsewhere (with the provider).
 */
export function normalizeOnly(messages: readonly ProviderMessage[]): PreparedMessage[] {
  return normalizeMessages(toConversation(messages)).map(toPrepared);
}

const anyDate = new Date(0);

function toConversation(messages: readonly ProviderMessage[]): ConversationMessage[] {
  return messages.map(({ role, content, origin, metadata }, index) => ({
    id: `m${index}`,
    conversationId: "",
    role,
    createdAt: anyDate,
    content: content as MessageContentPart[],
    metadata: origin === undefined ? { ...metadata } : { ...metadata, origin },
  }));
}

function toPrepared(message: ConversationMessage): PreparedMessage {
  const origin = messageOrigin(message);
  return {
    role: message.role,
    content: message.content,
    ...omitUndefined({ origin, metadata: message.metadata }),
  };
}

/**
 * Makes call ids unique: providers reuse ids such as `call_0` in every step, which others refuse in one
 * request.
 */
function uniqueCallIds(
  messages: readonly PreparedMessage[],
  used: Journal<string>,
  rule: CallIdRule,
): PreparedMessage[] {
  // Results directly follow their calls, in call order, so one queue pairs them whatever their ids are.
  let open: string[] = [];
  return messages.map((message) => {
    if (message.role === "assistant") open = [];
    let changed = false;
    const content = message.content.map((part) => {
      if (part.type === "tool-call") {
        const id = uniqueId(validId(part.toolCallId ?? "", rule), used, rule.maxLength);
        open.push(id);
        if (id === part.toolCallId) return part;
        changed = true;
        return { ...part, toolCallId: id };
      }
      if (part.type !== "tool-result") return part;
      const id = open.shift();
      if (id === undefined || id === part.toolCallId) return part;
      changed = true;
      return { ...part, toolCallId: id };
    });
    return changed ? { ...message, content } : message;
  });
}

function resultsAlone(messages: readonly PreparedMessage[]): PreparedMessage[] {
  const alone: PreparedMessage[] = [];
  let rest: MessageContentPart[] = [];
  const sayRest = () => {
    if (rest.length > 0) alone.push({ role: "user", content: rest });
    rest = [];
  };
  for (const message of messages) {
    if (message.role !== "tool") {
      sayRest();
      alone.push(message);
      continue;
    }
    const results = message.content.filter((part) => part.type === "tool-result");
    if (results.length === message.content.length) {
      alone.push(message);
      continue;
    }
    rest.push(...message.content.filter((part) => part.type !== "tool-result"));
    if (results.length > 0) alone.push({ ...message, content: results });
  }
  sayRest();
  return alone;
}

function validId(id: string, rule: CallIdRule): string {
  return id.length <= rule.maxLength && rule.pattern.test(id) ? id : `call_${hashText(id)}`;
}

function uniqueId(id: string, used: Journal<string>, maxLength: number): string {
  let candidate = id;
  for (let n = 2; used.has(candidate); n += 1) {
    const suffix = `_${n}`;
    candidate = id.slice(0, maxLength - suffix.length) + suffix;
  }
  used.add(candidate);
  return candidate;
}
