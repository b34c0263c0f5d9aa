import { ParleyError } from "../../errors.js";
import type { ConversationRecord, LogStore } from "../../ports/log-store.js";
import type { Services } from "../services.js";

/** The services of a runtime, and the owner of the request. */
export interface OwnerScope extends Services {
  readonly owner: string;
  readonly store: LogStore;
  /** Returns the owner's conversation, or throws `conversation_not_found`. */
  find(conversationId: string): Promise<ConversationRecord>;
  /** Publishes a change of one of the owner's conversations. */
  changed(log: number): void;
}

/** Returns the services as one owner sees them. */
export function ownerScope(services: Services, owner: string): OwnerScope {
  const { env } = services;
  const store = env.root.forOwner(owner);
  return {
    ...services,
    owner,
    store,
    async find(conversationId) {
      const record = await store.get(conversationId);
      if (record === null) throw new ParleyError("conversation_not_found");
      return record;
    },
    changed: (log) => env.notifyChanged(owner, [log]),
  };
}
