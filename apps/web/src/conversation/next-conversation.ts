import { newId } from "../app/new-id.js";

let next = newId();

/** The id that the next conversation of this page will have: what shows it can be made ready before it begins. */
export function nextConversationId(): string {
  return next;
}

/** The id was given to a conversation, or may have been: the next one gets another. */
export function renewConversationId(): void {
  next = newId();
}
