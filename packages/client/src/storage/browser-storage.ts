import { newMessageId } from "../outbox/ids.js";
import type { OutboxStorage, StoredMessage } from "../outbox/outbox-storage.js";

/** The options of a browser storage. */
export interface BrowserStorageOptions {
  /** The key under which messages are stored. Default: `parley.unsent`. */
  readonly key?: string | undefined;
  /** The most messages that are stored; beyond it the oldest are removed. Default: 50. */
  readonly messages?: number | undefined;
  /** Maximum characters of a message that is stored: a browser's storage is small. Default: 100,000. */
  readonly characters?: number | undefined;
}

/** A stored message with the page that sends it. */
interface Owned {
  readonly message: StoredMessage;
  readonly page: string;
}

/**
 * Storage for unsent messages in `localStorage`. Each page holds a Web Lock while it has messages there, by which the
 * others see that it is open; the browser releases it when the page closes. Without Web Locks, as on a page without
 * TLS from another machine, every other page counts as closed.
 */
export function browserStorage(options: BrowserStorageOptions = {}): OutboxStorage {
  const { key = "parley.unsent", messages: mostMessages = 50, characters = 100_000 } = options;
  const ownPage = newMessageId();
  const locks = globalThis.navigator?.locks as LockManager | undefined;
  const lockOf = (page: string) => `${key}.${page}`;
  let isHeld = false;

  const read = (): readonly Owned[] => {
    try {
      const stored: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
      return Array.isArray(stored) ? stored.filter(isOwned) : [];
    } catch {
      return [];
    }
  };
  const write = (all: readonly Owned[]) => {
    try {
      if (all.length === 0) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify(all));
    } catch {
      // Switched off, or full: the messages live as long as the page.
    }
  };
  const holdLock = () => {
    if (isHeld) return;
    isHeld = true;
    locks?.request(lockOf(ownPage), () => new Promise(() => {})).catch(() => {});
  };
  /** Takes over messages that a page has stored for a conversation. */
  const takeFrom = (page: string, conversationId: string): readonly StoredMessage[] => {
    const isTaken = (owned: Owned) => owned.page === page && owned.message.conversationId === conversationId;
    const all = read();
    const taken = all.filter(isTaken).map(({ message }) => message);
    if (page !== ownPage && taken.length > 0) {
      holdLock();
      write(all.map((owned) => (isTaken(owned) ? { ...owned, page: ownPage } : owned)));
    }
    return taken;
  };

  return {
    save(message) {
      if (message.message.length > characters) return;
      holdLock();
      const others = read().filter((owned) => owned.message.messageId !== message.messageId);
      write([...others, { message, page: ownPage }].slice(-mostMessages));
    },
    remove(messageId) {
      const all = read();
      const rest = all.filter(({ message }) => message.messageId !== messageId);
      if (rest.length < all.length) write(rest);
    },
    adopt(conversationId, signal, take) {
      const stored = read().filter(({ message }) => message.conversationId === conversationId);
      for (const page of new Set(stored.map((owned) => owned.page))) {
        const takeOver = () => {
          if (signal.aborted) return;
          const messages = takeFrom(page, conversationId);
          if (messages.length > 0) take(messages);
        };
        if (page === ownPage || locks === undefined) takeOver();
        else locks.request(lockOf(page), { signal }, takeOver).catch(() => {});
      }
    },
  };
}

function isOwned(value: unknown): value is Owned {
  if (typeof value !== "object" || value === null) return false;
  const { message, page } = value as Partial<Owned>;
  if (typeof message !== "object" || message === null) return false;
  const { conversationId, messageId, message: text, createdAt } = message as Partial<StoredMessage>;
  const texts = [page, conversationId, messageId, text];
  return texts.every((each) => typeof each === "string") && typeof createdAt === "number";
}
