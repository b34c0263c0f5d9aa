import { newId } from "../app/new-id.js";

let next = newId();

/** Returns the id that the next conversation of this page will have: its view can be prepared before it starts. */
export function nextConversationId(): string {
  return next;
}

/** Makes a new id, because the last one was given to a conversation, or may have been. */
export function renewConversationId(): void {
  next = newId();
}
