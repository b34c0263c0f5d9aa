import type { MessageOrigin } from "@parley/core/messages";
import {
  type AnthropicMessages,
  type OpenAIMessage,
  toAnthropicMessages,
  toOpenAIMessages,
} from "./to-provider-form.js";
import { fieldsOf, invalid, TranscriptMessage, type TranscriptMessageJson } from "./transcript-message.js";
import { type Truncation, truncateMessages } from "./truncate-messages.js";

/** Starts the system message that holds background knowledge. */
export const knowledgeMarker = "[KNOWLEDGE_CONTEXT]";

/** The stored form of a transcript. */
export interface TranscriptJson {
  messages: TranscriptMessageJson[];
}

/**
 * A conversation as a plain list of messages, with a token estimate, truncation to a budget, and conversion
 * to the forms of the providers. For programs that keep a conversation in memory; a conversation with a log
 * does not need it.
 */
export class Transcript {
  #messages: TranscriptMessage[];

  constructor(messages: Iterable<TranscriptMessage> = []) {
    this.#messages = [...messages];
  }

  /** Creates a transcript that starts with instructions. */
  static withSystem(systemPrompt: string): Transcript {
    return new Transcript([TranscriptMessage.system(systemPrompt)]);
  }

  /** Creates a transcript from its stored form, parsed or not. Throws `invalid_request` for anything else. */
  static fromJSON(stored: unknown): Transcript {
    const { messages } = fieldsOf(typeof stored === "string" ? parse(stored) : stored, "a transcript");
    if (!Array.isArray(messages)) throw invalid("a transcript has no messages");
    return new Transcript(messages.map((message) => TranscriptMessage.fromJSON(message)));
  }

  push(message: TranscriptMessage): void {
    this.#messages.push(message);
  }

  get messages(): readonly TranscriptMessage[] {
    return this.#messages;
  }

  get length(): number {
    return this.#messages.length;
  }

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  /** The first system message. */
  get systemMessage(): TranscriptMessage | undefined {
    return this.#messages.find(({ role }) => role === "system");
  }

  get lastAssistantMessage(): TranscriptMessage | undefined {
    return this.#messages.findLast(({ role }) => role === "assistant");
  }

  /** Returns the sum of the estimates of all messages. */
  estimateTokens(): number {
    return this.#messages.reduce((tokens, message) => tokens + message.estimateTokens(), 0);
  }

  /** Calls `toOpenAIMessages`. */
  toOpenAIMessages(): OpenAIMessage[] {
    return toOpenAIMessages(this.#messages);
  }

  /** Calls `toAnthropicMessages`. */
  toAnthropicMessages(reader?: MessageOrigin): AnthropicMessages {
    return toAnthropicMessages(this.#messages, reader);
  }

  /**
   * Drops the oldest messages until the rest is within the budget, by the rules of `truncateMessages`, and
   * returns what was dropped. Messages that must stay do so even if they alone exceed the budget: then `fits`
   * is false.
   */
  truncateToBudget(maxTokens: number): Truncation {
    const tokens = this.estimateTokens();
    if (tokens <= maxTokens) return { kept: [...this.#messages], dropped: [], tokens, fits: true };
    const truncation = truncateMessages(this.#messages, maxTokens);
    this.#messages = [...truncation.kept];
    return truncation;
  }

  /** Inserts knowledge after the instructions, replacing what was inserted before. */
  injectKnowledgeContext(context: string): void {
    const message = TranscriptMessage.system(`${knowledgeMarker}\n${context}`);
    const before = this.#messages.findIndex(
      ({ role, content }) => role === "system" && content.startsWith(knowledgeMarker),
    );
    if (before >= 0) this.#messages[before] = message;
    else this.#messages.splice(this.#messages[0]?.role === "system" ? 1 : 0, 0, message);
  }

  /** Returns figures for a log line, all as strings. */
  metadata(): Record<string, string> {
    const calls = this.#messages.reduce((count, { toolCalls }) => count + toolCalls.length, 0);
    const results = this.#messages.filter(({ role }) => role === "tool").length;
    return {
      message_count: String(this.length),
      estimated_tokens: String(this.estimateTokens()),
      has_system: String(this.systemMessage !== undefined),
      tool_call_count: String(calls),
      tool_result_count: String(results),
    };
  }

  toJSON(): TranscriptJson {
    return { messages: this.#messages.map((message) => message.toJSON()) };
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalid("the stored text is not JSON");
  }
}
