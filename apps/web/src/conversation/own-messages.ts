import { newId } from "../app/new-id.js";

/** Ids of messages that were sent here and have not been shown yet. */
const unseen = new Set<string>();

/** Makes the id of a message that the user sends here. */
export function newMessageId(): string {
  const id = newId();
  unseen.add(id);
  return id;
}

/** Returns true, once, for a message that was sent here. */
export function takeUnseen(id: string): boolean {
  return unseen.delete(id);
}
