import type { ConversationHandle } from "./conversation-handle.js";
import { type FollowEnvironment, FollowedConversation } from "./followed-conversation.js";

interface Room {
  readonly conversation: FollowedConversation;
  holders: number;
  leaving: ReturnType<typeof setTimeout> | undefined;
}

/** The conversations of a connection that someone holds. One that nobody holds any more is given up after a while. */
export class FollowedConversations {
  readonly #rooms = new Map<string, Room>();
  readonly #environment: () => FollowEnvironment;

  /** The environment is asked for late: the link in it finds the conversations here. */
  constructor(environment: () => FollowEnvironment) {
    this.#environment = environment;
  }

  find(id: string): FollowedConversation | undefined {
    return this.#rooms.get(id)?.conversation;
  }

  all(): FollowedConversation[] {
    return [...this.#rooms.values()].map((room) => room.conversation);
  }

  /** Its handle, to be released. It is loaded and followed from now on, if the connection is good for that. */
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

  /** Its handle, which holds nothing. */
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
      // What was sent is brought to its end first.
      if (room.conversation.isBusy) this.#leaveLater(id, room);
      else {
        this.#rooms.delete(id);
        room.conversation.stop();
      }
    }, this.#environment().pace.lingerMs);
  }
}
