import type { ConversationHandle } from "./conversation-handle.js";
import { type FollowEnvironment, FollowedConversation } from "./followed-conversation.js";

interface Room {
  readonly conversation: FollowedConversation;
  holders: number;
  leaving: ReturnType<typeof setTimeout> | undefined;
}

/** The conversations of a connection that callers hold. One without a holder is given up after a while. */
export class FollowedConversations {
  readonly #rooms = new Map<string, Room>();
  readonly #environment: () => FollowEnvironment;

  /** The environment is read late: the link in it finds the conversations here. */
  constructor(environment: () => FollowEnvironment) {
    this.#environment = environment;
  }

  find(id: string): FollowedConversation | undefined {
    return this.#rooms.get(id)?.conversation;
  }

  all(): FollowedConversation[] {
    return [...this.#rooms.values()].map((room) => room.conversation);
  }

  /** Returns its handle, to be released. It is loaded and followed from now on, if the connection is usable. */
  hold(id: string, isUsable: boolean): ConversationHandle {
    const room = this.#roomOf(id);
    clearTimeout(room.leaving);
    room.holders += 1;
    if (isUsable) room.conversation.start();
    let isHeld = true;
    return {
      ...room.conversation.handle,
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        room.holders -= 1;
        if (room.holders === 0) this.#leaveLater(id, room);
      },
    };
  }

  /** Returns its handle without holding it. */
  peek(id: string): ConversationHandle {
    return this.#roomOf(id).conversation.handle;
  }

  /** Gives all of them up at once. */
  clear(): void {
    for (const room of this.#rooms.values()) {
      clearTimeout(room.leaving);
      room.conversation.stop();
    }
    this.#rooms.clear();
  }

  #roomOf(id: string): Room {
    let room = this.#rooms.get(id);
    if (room === undefined) {
      const conversation = new FollowedConversation(id, this.#environment(), () => {});
      room = { conversation, holders: 0, leaving: undefined };
      this.#rooms.set(id, room);
      this.#leaveLater(id, room);
    }
    return room;
  }

  #leaveLater(id: string, room: Room): void {
    clearTimeout(room.leaving);
    room.leaving = setTimeout(() => {
      // Pending messages get their outcome first.
      if (room.conversation.isBusy) this.#leaveLater(id, room);
      else {
        this.#rooms.delete(id);
        room.conversation.stop();
      }
    }, this.#environment().pace.lingerMs);
  }
}
