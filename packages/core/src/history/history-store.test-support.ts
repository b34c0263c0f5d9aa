import type { Conversation, ConversationMessage } from "../messages/message.js";
import type { AddedEntriesReader, ConversationStore, HistoryEntry, NewestFirstReader } from "../ports.js";

/** Returns the store with only the eight methods, as an application may bring it. */
export function withoutReader(store: ConversationStore): ConversationStore {
  return {
    createConversation: (input) => store.createConversation(input),
    getConversation: (id) => store.getConversation(id),
    updateConversation: (id, updates) => store.updateConversation(id, updates),
    listConversations: (options) => store.listConversations(options),
    appendMessages: (messages) => store.appendMessages(messages),
    listMessages: (id, options) => store.listMessages(id, options),
    appendTurn: (turn) => store.appendTurn(turn),
    listTurns: (id) => store.listTurns(id),
  };
}

export const conversation: Conversation = { id: "c1", createdAt: new Date(0), updatedAt: new Date(0) };

/** A log that can only be read, in pages, and counts how much of it was read. */
export class LogReader implements NewestFirstReader {
  read = 0;
  readonly #log: readonly HistoryEntry[];

  constructor(log: readonly HistoryEntry[]) {
    this.#log = log;
  }

  async readNewest(request: { conversationId: string; limit: number; before?: number }) {
    const { before = Number.POSITIVE_INFINITY, limit } = request;
    const older = this.#log.filter((entry) => (entry.firstSeq ?? 0) < before);
    const page = older.slice(-limit).toReversed();
    this.read += page.length;
    const oldest = page.at(-1)?.firstSeq;
    return older.length > limit && oldest !== undefined
      ? { entries: page, before: oldest }
      : { entries: page };
  }
}

function unused(): never {
  throw new Error("Building a window only reads");
}

/** Returns the reader as a store, of which a builder uses nothing else. */
export function storeOf(reader: LogReader): ConversationStore & NewestFirstReader {
  return {
    createConversation: unused,
    getConversation: unused,
    updateConversation: unused,
    listConversations: unused,
    appendMessages: unused,
    listMessages: async (): Promise<ConversationMessage[]> => unused(),
    appendTurn: unused,
    listTurns: unused,
    readNewest: (request) => reader.readNewest(request),
  };
}

/** A log that grows, read as from a database: every reader gets its own objects. */
export class GrowingLog implements NewestFirstReader, AddedEntriesReader {
  entries: readonly HistoryEntry[] = [];
  view = 0;
  isGone = false;
  /** Number of entries that were read from the newest end, and after a seq. */
  read = 0;
  readAdded = 0;

  async readNewest(request: { conversationId: string; limit: number; before?: number }) {
    const reader = new LogReader(this.isGone ? [] : this.entries);
    const page = await reader.readNewest(request);
    this.read += reader.read;
    return { ...structuredClone(page), ...(page.entries.length > 0 ? { view: String(this.view) } : {}) };
  }

  async readAfter({ seq, limit }: { conversationId: string; seq: number; limit: number }) {
    if (this.isGone) return null;
    const added = this.entries.filter((entry) => (entry.firstSeq ?? 0) > seq);
    this.readAdded += Math.min(added.length, limit);
    const entries = structuredClone(added.slice(0, limit));
    return { view: String(this.view), entries, more: added.length > limit };
  }
}

/** Returns the log as a store, of which a builder uses nothing else. */
export function growingStoreOf(log: GrowingLog): ConversationStore & NewestFirstReader & AddedEntriesReader {
  return {
    ...storeOf(new LogReader([])),
    readNewest: (request) => log.readNewest(request),
    readAfter: (request) => log.readAfter(request),
  };
}
