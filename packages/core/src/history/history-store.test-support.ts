import type { Conversation, ConversationMessage } from "../messages/message.js";
import type { ConversationStore, HistoryEntry, NewestFirstReader } from "../ports.js";

/** The store as someone brings it who knows of the eight methods only. */
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

/** A log that can only be read, in pages, and counts how much of it was. */
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

/** The reader as a store, of which a builder uses nothing else. */
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
