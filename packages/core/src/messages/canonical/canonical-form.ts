import { omitUndefined } from "@parley/fold";
import { hiddenEntryOf } from "../hidden-entry.js";
import { inputEntryOf } from "../input-entry.js";
import type { ConversationMessage } from "../message.js";
import { outputEntryOf } from "../output-entry.js";
import type { MessageContentPart } from "../part.js";
import type { CanonicalMessage, MessageType } from "./canonical-message.js";
import { fromCanonicalPart, toCanonicalPart } from "./canonical-part.js";
import { isOwnMessage, messageIdOf, normalizeEnvelope, normalizeMessage } from "./normalize-message.js";
import { type Fields, fieldsBeside, isFields } from "./normalize-part.js";
import { splitResults } from "./split-results.js";

/** Returns the stored type of a message, from its content. */
export function messageTypeOf(message: Pick<ConversationMessage, "content" | "metadata">): MessageType {
  if (isCompactionEntry(message)) return "event";
  const { content } = message;
  if (content.length === 0) return "text";
  if (content.every(isEvent)) return "event";
  return content.every((part) => part.type === "tool-call" || part.type === "tool-result") ? "tool" : "text";
}

function isEvent(part: MessageContentPart): boolean {
  if (part.type !== "metadata") return part.type === "error";
  return [inputEntryOf, outputEntryOf, hiddenEntryOf].some((entryOf) => entryOf(part) !== undefined);
}

/** Returns true for the summary that a compaction put into the log: its metadata has an object `compaction`. */
function isCompactionEntry(message: Pick<ConversationMessage, "metadata">): boolean {
  return isFields(message.metadata?.compaction);
}

/**
 * Converts a message to its stored form. On Parley's own form nothing is lost: `fromCanonical` returns the same
 * message. Fields of the envelope that Parley does not know go into `content`, which a store keeps whole. The parts'
 * values are shared with the message, not copied. `resourceId` overrides the message's own.
 */
export function toCanonical(
  message: ConversationMessage,
  options: { readonly resourceId?: string } = {},
): CanonicalMessage {
  const own = isOwnMessage(message) ? message : normalizeMessage(message);
  const { id, conversationId, role, createdAt, content, metadata, providerMetadata, ...rest } = own;
  const { resourceId: ownResourceId, ...unknown } = rest;
  const resourceId = options.resourceId ?? ownResourceId;
  return {
    id,
    threadId: conversationId,
    role,
    type: messageTypeOf(own),
    content: {
      ...unknown,
      format: 2,
      parts: content.map(toCanonicalPart),
      ...omitUndefined({ metadata, providerMetadata }),
    },
    createdAt,
    ...omitUndefined({ resourceId }),
  };
}

const canonicalFields = new Set(["id", "threadId", "role", "type", "content", "createdAt", "resourceId"]);
const contentFields = new Set(["format", "parts", "content", "metadata", "providerMetadata"]);

/**
 * Converts a stored message, of any writer, to Parley's own form.
 *
 * It is one message for everything that Parley stores. Other writers merge a call with its result in one part of an
 * assistant message; that becomes an assistant message with the call, a tool message with the result and, if the
 * writer continued, another assistant message. The first one keeps the id, the others' ids are derived from it, so
 * reading twice gives the same messages.
 */
export function fromCanonical(canonical: CanonicalMessage): ConversationMessage[] {
  const envelope = canonical as unknown as Fields;
  const body: Fields = isFields(envelope.content) ? envelope.content : { content: envelope.content };
  const { parts, content: text } = body;
  const id = messageIdOf(envelope, 0);

  const read: MessageContentPart[] = [];
  let merged = false;
  const results: MessageContentPart[] = [];
  for (const [index, part] of (Array.isArray(parts) ? (parts as unknown[]) : []).entries()) {
    // Adjacent merged calls were made together: all calls first, then all results.
    if (results.length > 0 && (!isFields(part) || part.type !== "tool-invocation")) {
      read.push(...results.splice(0));
    }
    const entry = fromCanonicalPart(part, canonical.role, { messageId: id, index });
    read.push(entry.part);
    if (entry.result !== undefined) {
      merged = true;
      results.push(entry.result);
    }
  }
  read.push(...results);
  // The convenience text repeats the text parts; it matters only if there are none.
  if (typeof text === "string" && text !== "" && !read.some((part) => part.type === "text")) {
    read.unshift({ type: "text", text });
  }
  const { threadId, role, createdAt, resourceId } = envelope;
  const { metadata, providerMetadata } = body;
  const message = normalizeEnvelope(
    {
      ...fieldsBeside(body, contentFields),
      ...fieldsBeside(envelope, canonicalFields),
      conversationId: threadId,
      role,
      createdAt,
      metadata,
      providerMetadata,
      resourceId,
    },
    id,
    read,
  );
  return merged ? splitResults(message) : [message];
}
