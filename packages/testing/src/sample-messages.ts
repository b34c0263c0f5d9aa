import type { ConversationMessage, MessageContentPart } from "@parley/core/messages";
import type { ConversationTurn } from "@parley/core/ports";

/** One part of each kind, in the form in which Parley writes it. */
export const everyPart: MessageContentPart[] = [
  { type: "reasoning", text: "hm", durationMs: 7, providerMetadata: { p: { signature: "s" } } },
  { type: "text", text: "Hello", providerMetadata: { p: { id: 1 } } },
  {
    type: "tool-call",
    name: "weather",
    arguments: { city: "Oslo" },
    argumentsText: '{"city": "Oslo"}',
    toolCallId: "call-1",
    stepId: "turn.0",
  },
  {
    type: "tool-result",
    name: "weather",
    result: { degrees: 4 },
    resultText: '{"degrees": 4}',
    toolCallId: "call-1",
    isError: false,
    stepId: "turn.0",
    durationMs: 12,
  },
  { type: "metadata", data: { any: [1, "a", null] } },
  { type: "file", mediaType: "text/plain", data: "aGk=", filename: "hi.txt" },
  { type: "source", id: "s1", title: "A page", url: "https://example.com/" },
  { type: "error", message: "The connection failed", code: "network" },
];

/** Returns an id that no other case uses, also in a shared database. */
export function uniqueId(): string {
  return crypto.randomUUID();
}

/** Makes a user message of one text. */
export function text(
  conversationId: string,
  content: string,
  createdAt = 1_700_000_000_000,
): ConversationMessage {
  return {
    id: uniqueId(),
    conversationId,
    role: "user",
    createdAt: new Date(createdAt),
    content: [{ type: "text", text: content }],
  };
}

/** Makes a turn with a question, an answer and a tool's result. */
export function sampleTurn(conversationId: string): ConversationTurn {
  const createdAt = new Date(1_700_000_000_000);
  return {
    id: uniqueId(),
    conversationId,
    createdAt,
    userMessages: [text(conversationId, "question")],
    assistantMessages: [{ ...text(conversationId, "answer"), role: "assistant" }],
    toolMessages: [{ ...text(conversationId, ""), role: "tool", content: everyPart.slice(3, 4) }],
    providerCalls: [
      {
        id: uniqueId(),
        createdAt,
        metadata: { provider: "p", model: "m" },
        usage: { inputTokens: 10, outputTokens: 5 },
      },
    ],
    metadata: { reason: "stop", usage: { inputTokens: 10, outputTokens: 5 } },
  };
}
