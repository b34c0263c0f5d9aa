import type { MessageOrigin } from "@parley/core/messages";
import {
  type AnthropicMessages,
  type OpenAIMessage,
  toAnthropicMessages,
  toOpenAIMessages,
} from "./to-provider-form.js";
import { fieldsOf, invalid, TranscriptMessage, type TranscriptMessageJson } from "./transcript-message.js";
import { type Truncation, truncateMessages } from "./truncate-messages.js";

/** Begins the system message that holds what is known about the matter at hand. */
export const knowledgeMarker = "[KNOWLEDGE_CONTEXT]";

/** The stored form of a transcript. */
export interface TranscriptJson {
  messages: TranscriptMessageJson[];
}

/**
 * A conversation as a plain list of messages, with its size, cut to a budget, and in the forms of the providers.
 * For programs that keep a conversation in memory; a conversation with a log has no need of it.
 */
export class Transcript {
  #messages: TranscriptMessage[];

  constructor(messages: Iterable<TranscriptMessage> = []) {
    this.#messages = [...messages];
  }

  /** A transcript that begins with instructions. */
  static withSystem(systemPrompt: string): Transcript {
    return new Transcript([TranscriptMessage.system(systemPrompt)]);
  }

  /** A transcript from its stored form, parsed or not. Throws `invalid_request` for anything else. */
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

  /** The estimates of all messages together. */
  estimateTokens(): number {
    return this.#messages.reduce((tokens, message) => tokens + message.estimateTokens(), 0);
  }

  /** See `toOpenAIMessages`. */
  toOpenAIMessages(): OpenAIMessage[] {
    return toOpenAIMessages(this.#messages);
  }

  /** See `toAnthropicMessages`. */
  toAnthropicMessages(reader?: MessageOrigin): AnthropicMessages {
    return toAnthropicMessages(this.#messages, reader);
  }

  /**
   * Drops the oldest messages until the rest is within the budget, by the rules of `truncateMessages`, and says
   * what was dropped. What must stay does so even if it alone is over the budget: then `fits` is false.
   */
  truncateToBudget(maxTokens: number): Truncation {
    const tokens = this.estimateTokens();
    if (tokens <= maxTokens) return { kept: [...this.#messages], dropped: [], tokens, fits: true };
    const truncation = truncateMessages(this.#messages, maxTokens);
    this.#messages = [...truncation.kept];
    return truncation;
  }

  /** Puts knowledge behind the instructions, in the place of what was put there before. */
  injectKnowledgeContext(context: string): void {
    const message = TranscriptMessage.system(`${knowledgeMarker}\n${context}`);
    const before = this.#messages.findIndex(
      ({ role, content }) => role === "system" && content.startsWith(knowledgeMarker),
    );
    if (before >= 0) this.#messages[before] = message;
    else this.#messages.splice(this.#messages[0]?.role === "system" ? 1 : 0, 0, message);
  }

  /** Figures for a log line, all as texts. */
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
