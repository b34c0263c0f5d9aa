import type { ProviderMetadata } from "@parley/wire";
import { ParleyError } from "../errors.js";
import type { MessageContentPart } from "./part.js";

/** Any format that is unique in its domain; Parley makes UUIDv7. */
export type ConversationId = string;
export type TurnId = string;
export type MessageId = string;
export type ProviderCallId = string;

export type MessageRole = "system" | "user" | "assistant" | "tool";

/** The in-memory envelope of a message. */
export interface ConversationMessage {
  id: MessageId;
  conversationId: ConversationId;
  role: MessageRole;
  createdAt: Date;
  /** Ordered parts. */
  content: MessageContentPart[];
  /** Free-form: source, tags, hints for a page. `metadata.origin` names provider and model (see `messageOrigin`). */
  metadata?: Record<string, unknown>;
  /** Set if a provider attaches data to the whole message. */
  providerMetadata?: ProviderMetadata;
  /** The owner, if the store knows one. */
  resourceId?: string;
}

/** Refuses a message that names no conversation. */
export function requireConversationId(message: {
  readonly id: MessageId;
  readonly conversationId: unknown;
}): void {
  const { id, conversationId } = message;
  if (typeof conversationId === "string" && conversationId !== "") return;
  throw new ParleyError(
    "invalid_request",
    `Message ${JSON.stringify(id)} has no conversationId: set it to the id of its conversation`,
    { details: { messageId: id, field: "conversationId" } },
  );
}

/** A conversation as its engine sees it. */
export interface Conversation {
  id: ConversationId;
  createdAt: Date;
  updatedAt: Date;
  title?: string;
  metadata?: Record<string, unknown>;
}

/**
 * Tokens of a call or, summed, of a turn. `inputTokens` includes tokens read from or written to a cache,
 * `outputTokens` includes reasoning, for every provider.
 */
export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  totalTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
}

/** Provider and model that wrote an assistant message. */
export interface MessageOrigin {
  provider: string;
  model: string;
}

/** Returns the origin kept in a message's metadata, if there is one. */
export function messageOrigin(message: Pick<ConversationMessage, "metadata">): MessageOrigin | undefined {
  const origin = message.metadata?.origin;
  if (typeof origin !== "object" || origin === null) return undefined;
  const { provider, model } = origin as Partial<Record<string, unknown>>;
  return typeof provider === "string" && typeof model === "string" ? { provider, model } : undefined;
}

/** Joins the message's text parts, without reasoning, tools or files. */
export function textOf(message: { readonly content: readonly MessageContentPart[] }): string {
  let text = "";
  for (const part of message.content) if (part.type === "text") text += part.text;
  return text;
}
