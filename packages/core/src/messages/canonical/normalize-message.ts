import { omitUndefined } from "@parley/fold";
import type { ConversationMessage, MessageRole } from "../message.js";
import type { MessageContentPart } from "../part.js";
import { createCallLedger } from "../provider/call-ledger.js";
import { hashText } from "../text/hash.js";
import { stableValue } from "../text/stable-value.js";
import { type Fields, fieldsBeside, isFields, isOwnPart, normalizePart } from "./normalize-part.js";

/**
 * Converts any message to Parley's own form: parts as `normalizePart` makes them, at least one of them (an empty text
 * if there was none), a known role, a valid date. Idempotent, and the identity on a message that has the form
 * already. Fields that Parley does not know are kept.
 *
 * A result without an id can be paired here only with a call of the same message; `normalizeMessages` sees the whole
 * history.
 */
export function normalizeMessage(message: ConversationMessage): ConversationMessage {
  const [normalized = message] = normalizeMessages([message]);
  return normalized;
}

/**
 * Normalizes a history, as `normalizeMessage` does a message. A result without an id gets the id of the call that it
 * can only mean: the unanswered call of the same tool in the nearest message before it. If that message made several
 * such calls, they are paired in order if there are as many results, and not at all otherwise.
 */
export function normalizeMessages(messages: readonly ConversationMessage[]): ConversationMessage[] {
  const contents = messages.map((message) => foreignParts(message));
  const ids = messages.map((message, index) => messageIdOf(message as unknown as Fields, index));
  const paired = pairByName(contents, ids);
  return messages.map((message, index) =>
    normalizeEnvelope(
      message as unknown as Fields,
      ids[index] ?? "",
      (contents[index] ?? []).map((part, partIndex) => {
        const place = { messageId: ids[index] ?? "", index: partIndex };
        const toolCallId = paired.get(`${index}:${partIndex}`);
        return normalizePart(
          toolCallId === undefined || !isFields(part) ? part : { ...part, toolCallId },
          place,
        );
      }),
    ),
  );
}

/** Returns true if a message has the shape of Parley's own form, derived values not compared. */
export function isOwnMessage(message: ConversationMessage): boolean {
  const fields = message as unknown as Fields;
  return (
    typeof fields.id === "string" &&
    typeof fields.conversationId === "string" &&
    fields.role === knownRole(fields.role) &&
    isDate(fields.createdAt) &&
    isOptionalFields(fields.metadata) &&
    isOptionalFields(fields.providerMetadata) &&
    (fields.resourceId === undefined || typeof fields.resourceId === "string") &&
    Array.isArray(fields.content) &&
    fields.content.length > 0 &&
    fields.content.every(isOwnPart)
  );
}

/** Returns the history itself if it has Parley's own shape, otherwise the normalized one. */
export function ownMessages(messages: readonly ConversationMessage[]): readonly ConversationMessage[] {
  return messages.every(isOwnMessage) ? messages : normalizeMessages(messages);
}

const envelopeFields = new Set([
  "id",
  "conversationId",
  "role",
  "createdAt",
  "content",
  "metadata",
  "providerMetadata",
  "resourceId",
]);

/** Returns the envelope in Parley's own form around parts that already have it. */
export function normalizeEnvelope(
  fields: Fields,
  id: string,
  parts: MessageContentPart[],
): ConversationMessage {
  const { role, createdAt, metadata, providerMetadata, resourceId, conversationId } = fields;
  const known = knownRole(role);
  const given =
    metadata === undefined || metadata === null
      ? undefined
      : isFields(metadata)
        ? metadata
        : { value: metadata };
  // A role of another system, such as `developer`, is a hint that a provider may still understand.
  const kept = known === role || typeof role !== "string" ? given : { ...given, role };
  return {
    id,
    conversationId: typeof conversationId === "string" ? conversationId : "",
    role: known,
    createdAt: dateOf(createdAt),
    content: parts.length === 0 ? [{ type: "text", text: "" }] : parts,
    ...omitUndefined({ metadata: kept }),
    ...(isFields(providerMetadata) ? { providerMetadata } : {}),
    ...(typeof resourceId === "string" ? { resourceId } : {}),
    ...fieldsBeside(fields, envelopeFields),
  } as ConversationMessage;
}

function foreignParts(message: ConversationMessage): readonly unknown[] {
  const content: unknown = (message as unknown as Fields).content;
  if (Array.isArray(content)) return content;
  return content === undefined || content === null ? [] : [content];
}

/** Returns the message's id, or one derived from its place and its whole content. */
export function messageIdOf(fields: Fields, index: number): string {
  const { id } = fields;
  if (typeof id === "string") return id;
  if (typeof id === "number") return String(id);
  return `message_${hashText(`${index}\n${JSON.stringify(stableValue(fields))}`)}`;
}

function knownRole(role: unknown): MessageRole {
  switch (role) {
    case "system":
    case "user":
    case "assistant":
    case "tool":
      return role;
    case "developer":
      return "system";
    case "function":
      return "tool";
    default:
      return "user";
  }
}

function isDate(value: unknown): value is Date {
  return value instanceof Date && !Number.isNaN(value.getTime());
}

function dateOf(value: unknown): Date {
  if (isDate(value)) return value;
  const date = typeof value === "string" || typeof value === "number" ? new Date(value) : new Date(0);
  return isDate(date) ? date : new Date(0);
}

function isOptionalFields(value: unknown): boolean {
  return value === undefined || isFields(value);
}

interface NamedCall {
  readonly toolCallId: string;
  answered: boolean;
}

/** Finds ids for results that have none, by the rule of `normalizeMessages`. Keys are `message:part`. */
function pairByName(contents: readonly (readonly unknown[])[], ids: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  const lacking = contents.some((parts) => parts.some((part) => isResult(part) && !hasId(part)));
  if (!lacking) return found;

  const ledger = createCallLedger<NamedCall>();
  // Per tool, the calls of each message, oldest first, and the results that may belong to them.
  const callsByName = new Map<string, { place: number; calls: NamedCall[]; results: string[] }[]>();
  contents.forEach((parts, place) => {
    parts.forEach((part, index) => {
      if (isCall(part)) {
        const normal = normalizePart(part, { messageId: ids[place] ?? "", index });
        const toolCallId = normal.type === "tool-call" ? (normal.toolCallId ?? "") : "";
        const call = { toolCallId, answered: false };
        ledger.add(place, toolCallId, call);
        const groups = callsByName.get(part.name) ?? [];
        callsByName.set(part.name, groups);
        const last = groups.at(-1);
        if (last?.place === place) last.calls.push(call);
        else groups.push({ place, calls: [call], results: [] });
      } else if (isResult(part)) {
        if (hasId(part)) {
          const call = ledger.answer(part.toolCallId);
          if (call !== undefined) call.answered = true;
        } else {
          const groups = callsByName.get(part.name);
          const nearest = groups?.findLast((group) => group.calls.some((call) => !call.answered));
          nearest?.results.push(`${place}:${index}`);
        }
      }
    });
  });

  for (const { calls, results } of [...callsByName.values()].flat()) {
    const open = calls.filter((call) => !call.answered);
    if (open.length !== 1 && open.length !== results.length) continue;
    open.forEach((call, index) => {
      const key = results[index];
      if (key !== undefined) found.set(key, call.toolCallId);
    });
  }
  return found;
}

function isCall(part: unknown): part is { name: string } {
  return isFields(part) && part.type === "tool-call" && typeof part.name === "string";
}

function isResult(part: unknown): part is { name: string; toolCallId?: unknown } {
  return isFields(part) && part.type === "tool-result" && typeof part.name === "string";
}

function hasId(part: { toolCallId?: unknown }): part is { toolCallId: string } {
  return typeof part.toolCallId === "string" && part.toolCallId !== "";
}
