import type { ConversationHandle } from "./conversation-handle.js";
import { type FollowEnvironment, FollowedConversation } from "./followed-conversation.js";

interface Entry {
  readonly conversation: FollowedConversation;
  holders: number;
  leaving: ReturnType<typeof setTimeout> | undefined;
}

/** The conversations of a connection that callers hold. One without a holder is given up after a while. */
export class FollowedConversations {
  readonly #entries = new Map<string, Entry>();
  readonly #environment: () => FollowEnvironment;

  /** The environment is read late: the link in it finds the conversations here. */
  constructor(environment: () => FollowEnvironment) {
    this.#environment = environment;
  }

  find(id: string): FollowedConversation | undefined {
    return this.#entries.get(id)?.conversation;
  }

  all(): FollowedConversation[] {
    return [...this.#entries.values()].map((entry) => entry.conversation);
  }

  /** Returns its handle, to be released. It is loaded and followed from now on, if the connection is usable. */
  hold(id: string, isUsable: boolean): ConversationHandle {
    const entry = this.#entryOf(id);
    clearTimeout(entry.leaving);
    entry.holders += 1;
    if (isUsable) entry.conversation.start();
    let isHeld = true;
    return {
      ...entry.conversation.handle,
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        entry.holders -= 1;
        if (entry.holders === 0) this.#leaveLater(id, entry);
      },
    };
  }

  /** Returns its handle without holding it. */
  peek(id: string): ConversationHandle {
    return this.#entryOf(id).conversation.handle;
  }

  /** Gives all of them up at once. */
  clear(): void {
    for (const entry of this.#entries.values()) {
      clearTimeout(entry.leaving);
      entry.conversation.stop();
    }
    this.#entries.clear();
  }

  #entryOf(id: string): Entry {
    let entry = this.#entries.get(id);
    if (entry === undefined) {
      const conversation = new FollowedConversation(id, this.#environment(), () => {});
      entry = { conversation, holders: 0, leaving: undefined };
      this.#entries.set(id, entry);
      this.#leaveLater(id, entry);
    }
    return entry;
  }

  #leaveLater(id: string, entry: Entry): void {
    clearTimeout(entry.leaving);
    entry.leaving = setTimeout(() => {
      // Pending messages get their outcome first.
      if (entry.conversation.isBusy) this.#leaveLater(id, entry);
      else {
        this.#entries.delete(id);
        entry.conversation.stop();
      }
    }, this.#environment().pace.lingerMs);
  }
}
