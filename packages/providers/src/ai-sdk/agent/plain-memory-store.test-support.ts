import type { CanonicalMessage } from "@parley/core/messages";
import type { MemoryStore, Thread } from "@parley/core/ports";

/** A minimal store: four methods, ordered by time alone, everything serialized as JSON as in a database. */
export interface PlainMemoryStore extends MemoryStore {
  readonly messages: Map<string, CanonicalMessage>;
  readonly threads: Map<string, Thread>;
  /** Called before each write; if it throws, the write fails. */
  beforeSave: (messages: readonly CanonicalMessage[]) => void | Promise<void>;
}

export function createPlainMemoryStore(): PlainMemoryStore {
  const messages = new Map<string, CanonicalMessage>();
  const threads = new Map<string, Thread>();
  const store: PlainMemoryStore = {
    messages,
    threads,
    beforeSave: () => {},
    async listMessages({ threadId, limit, orderBy = "asc" }) {
      // By time and then by a scrambled id: a store need not keep the order of writes.
      const scrambled = ({ id }: CanonicalMessage) => [...id].reverse().join("");
      const found = [...messages.values()]
        .filter((message) => message.threadId === threadId)
        .sort(
          (a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (scrambled(a) < scrambled(b) ? -1 : 1),
        );
      if (orderBy === "desc") found.reverse();
      return found.slice(0, limit).map(copy);
    },
    async saveMessages({ messages: given }) {
      await store.beforeSave(given);
      for (const message of given) messages.set(message.id, copy(message));
    },
    async getThreadById({ threadId }) {
      return threads.get(threadId) ?? null;
    },
    async saveThread({ thread }) {
      threads.set(thread.id, { ...thread });
    },
  };
  return store;
}

function copy(message: CanonicalMessage): CanonicalMessage {
  const plain = JSON.parse(JSON.stringify(message)) as CanonicalMessage;
  return { ...plain, createdAt: new Date(plain.createdAt) };
}
