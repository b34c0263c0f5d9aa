import { ParleyError } from "../../errors.js";
import type { ConversationRecord, LogStore } from "../../log-store.js";
import { notifyChanged } from "../delivery/notify-changed.js";
import type { Rooms } from "../rooms.js";

/** The rooms of a runtime, and the owner who is asking. */
export interface OwnerScope extends Rooms {
  readonly owner: string;
  readonly store: LogStore;
  /** The owner's conversation, or `conversation_not_found`. */
  find(conversationId: string): Promise<ConversationRecord>;
  /** Announces a change of one of the owner's conversations. */
  changed(conversationId: string): void;
}

/** One owner's view of the rooms. */
export function ownerScope(rooms: Rooms, owner: string): OwnerScope {
  const { env } = rooms;
  const store = env.root.forOwner(owner);
  return {
    ...rooms,
    owner,
    store,
    async find(conversationId) {
      const record = await store.get(conversationId);
      if (record === null) throw new ParleyError("conversation_not_found");
      return record;
    },
    changed: (conversationId) => notifyChanged(env, owner, [conversationId]),
  };
}
