import { omitUndefined } from "@parley/fold";
import type { Clock } from "../clock.js";
import { systemClock } from "../clock.js";
import { copyOf } from "../copy-of.js";
import { ParleyError } from "../errors.js";
import type { IdFactory } from "../messages/ids.js";
import { createUuidV7Factory } from "../messages/ids.js";
import {
  type Conversation,
  type ConversationId,
  type ConversationMessage,
  requireConversationId,
} from "../messages/message.js";
import type {
  ConversationStore,
  ConversationTurn,
  HistoryEntry,
  ListConversationsOptions,
  ListMessagesOptions,
  NewestFirstReader,
} from "../ports.js";

interface Log {
  conversation: Conversation;
  /** Number of updates of the whole store: orders conversations that were updated in the same millisecond. */
  updateNumber: number;
  readonly messages: ConversationMessage[];
  /** The first seq of each message, beside `messages`. */
  readonly firstSeqs: number[];
  nextSeq: number;
  readonly turns: ConversationTurn[];
}

/**
 * A store whose contents end with its process: for tests, examples and local use.
 *
 * It keeps the guarantees of every store of Parley. A message or turn whose id is already there is not written again;
 * one that names an unknown conversation is `conversation_not_found`, and one whose id belongs to another
 * conversation is `invalid_request`. An append is whole or not at all. Input and output are copied, so no caller can
 * change what is stored. An append costs the same however long the conversation is, and so does a page read from the
 * newest end.
 */
export class InMemoryConversationStore implements ConversationStore, NewestFirstReader {
  readonly #logs = new Map<ConversationId, Log>();
  readonly #conversationOfMessage = new Map<string, ConversationId>();
  readonly #conversationOfTurn = new Map<string, ConversationId>();
  readonly #clock: Pick<Clock, "now">;
  readonly #ids: IdFactory;
  #updates = 0;

  constructor(options: { clock?: Pick<Clock, "now">; ids?: IdFactory } = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#ids = options.ids ?? createUuidV7Factory(this.#clock);
  }

  /** Creates a conversation. If the id exists, returns the existing one, unchanged: a retry makes no second one. */
  async createConversation(input: {
    id?: ConversationId;
    title?: string;
    metadata?: Record<string, unknown>;
  }): Promise<Conversation> {
    const id = input.id ?? this.#ids.next();
    const existing = this.#logs.get(id);
    if (existing !== undefined) return copyOf(existing.conversation);
    const now = this.#clock.now();
    const conversation: Conversation = { id, createdAt: new Date(now), updatedAt: new Date(now) };
    if (input.title !== undefined) conversation.title = input.title;
    if (input.metadata !== undefined) conversation.metadata = copyOf(input.metadata);
    this.#updates += 1;
    this.#logs.set(id, {
      conversation,
      updateNumber: this.#updates,
      messages: [],
      firstSeqs: [],
      nextSeq: 1,
      turns: [],
    });
    return copyOf(conversation);
  }

  async getConversation(id: ConversationId): Promise<Conversation | null> {
    const log = this.#logs.get(id);
    return log === undefined ? null : copyOf(log.conversation);
  }

  /** Replaces title and metadata where given; moves `updatedAt` also when neither is. */
  async updateConversation(
    id: ConversationId,
    updates: Partial<Pick<Conversation, "title" | "metadata">>,
  ): Promise<Conversation | null> {
    const log = this.#logs.get(id);
    if (log === undefined) return null;
    const { title, metadata } = updates;
    log.conversation = {
      ...log.conversation,
      ...omitUndefined({ title }),
      ...(metadata === undefined ? {} : { metadata: copyOf(metadata) }),
    };
    this.#touch(log);
    return copyOf(log.conversation);
  }

  async listConversations(options: ListConversationsOptions = {}): Promise<Conversation[]> {
    const before = options.before?.getTime() ?? Number.POSITIVE_INFINITY;
    return [...this.#logs.values()]
      .filter((log) => log.conversation.updatedAt.getTime() < before)
      .sort((a, b) => b.updateNumber - a.updateNumber)
      .slice(0, boundOf(options.limit ?? 50))
      .map((log) => copyOf(log.conversation));
  }

  async appendMessages(messages: ConversationMessage[]): Promise<void> {
    const fresh = new Map<string, { log: Log; message: ConversationMessage }>();
    for (const message of messages) {
      requireConversationId(message);
      const log = this.#logOf(message.conversationId);
      const holder =
        this.#conversationOfMessage.get(message.id) ?? fresh.get(message.id)?.message.conversationId;
      if (holder === undefined) fresh.set(message.id, { log, message: copyOf(message) });
      else refuseForeign("message", message, holder);
    }
    // Everything is checked and copied by now, so nothing below can fail halfway.
    for (const { log, message } of fresh.values()) {
      this.#conversationOfMessage.set(message.id, message.conversationId);
      log.messages.push(message);
      log.firstSeqs.push(log.nextSeq);
      log.nextSeq += seqsOf(message);
      this.#touch(log);
    }
  }

  /** Lists messages, oldest first unless `ascending` is false. */
  async listMessages(
    conversationId: ConversationId,
    options: ListMessagesOptions = {},
  ): Promise<ConversationMessage[]> {
    const messages = this.#logs.get(conversationId)?.messages ?? [];
    const limit = Math.min(boundOf(options.limit), messages.length);
    if (options.ascending !== false) return messages.slice(0, limit).map(copyOf);
    return messages
      .slice(messages.length - limit)
      .reverse()
      .map(copyOf);
  }

  async appendTurn(turn: ConversationTurn): Promise<void> {
    const log = this.#logOf(turn.conversationId);
    const holder = this.#conversationOfTurn.get(turn.id);
    if (holder !== undefined) {
      refuseForeign("turn", turn, holder);
      return;
    }
    log.turns.push(copyOf(turn));
    this.#conversationOfTurn.set(turn.id, turn.conversationId);
    this.#touch(log);
  }

  /** Lists turns in the order in which they were appended. */
  async listTurns(conversationId: ConversationId): Promise<ConversationTurn[]> {
    return (this.#logs.get(conversationId)?.turns ?? []).map(copyOf);
  }

  async readNewest(request: { conversationId: ConversationId; limit: number; before?: number }): Promise<{
    entries: HistoryEntry[];
    before?: number;
  }> {
    const log = this.#logs.get(request.conversationId);
    if (log === undefined) return { entries: [] };
    const end = request.before === undefined ? log.messages.length : placeOf(log.firstSeqs, request.before);
    const start = Math.max(0, end - boundOf(request.limit));
    const entries: HistoryEntry[] = [];
    for (let index = end - 1; index >= start; index--) {
      const message = log.messages[index];
      const firstSeq = log.firstSeqs[index];
      if (message === undefined || firstSeq === undefined) continue;
      const lastSeq = (log.firstSeqs[index + 1] ?? log.nextSeq) - 1;
      entries.push({ message: copyOf(message), firstSeq, lastSeq });
    }
    const next = log.firstSeqs[start];
    return start === 0 || next === undefined ? { entries } : { entries, before: next };
  }

  #logOf(conversationId: ConversationId): Log {
    const log = this.#logs.get(conversationId);
    if (log !== undefined) return log;
    throw new ParleyError("conversation_not_found", undefined, { details: { conversationId } });
  }

  #touch(log: Log): void {
    // A clock that goes back must not make a conversation older.
    const updatedAt = Math.max(this.#clock.now(), log.conversation.updatedAt.getTime());
    log.conversation = { ...log.conversation, updatedAt: new Date(updatedAt) };
    this.#updates += 1;
    log.updateNumber = this.#updates;
  }
}

function refuseForeign(
  kind: "message" | "turn",
  entry: { readonly id: string; readonly conversationId: ConversationId },
  holder: ConversationId,
): void {
  if (holder === entry.conversationId) return;
  throw new ParleyError("invalid_request", `The id of this ${kind} is used in another conversation`, {
    details: { id: entry.id },
  });
}

/** Returns one seq per part; a message without parts is stored as one empty text. */
function seqsOf(message: ConversationMessage): number {
  return Math.max(1, message.content.length);
}

function boundOf(limit: number | undefined): number {
  if (limit === undefined) return Number.MAX_SAFE_INTEGER;
  return limit > 0 ? Math.floor(limit) : 0;
}

/** Counts the ascending numbers that are below `bound`. */
function placeOf(ascending: readonly number[], bound: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? bound) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
