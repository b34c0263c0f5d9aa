import { readStored, writeStored } from "../app/stored.js";

const storedKey = "parley.unsent";
const mostKept = 50;
/** What a browser keeps is little: longer words live in the tab alone, as with drafts. */
const longestKept = 100_000;

/** The words of a message on its way. */
interface Kept {
  readonly conversationId: string;
  readonly messageId: string;
  readonly text: string;
}

/** Keeps the words of a message in this browser until the server has them, so that they outlive the tab. */
export function keepWords(kept: Kept): void {
  if (kept.text.length > longestKept) return;
  write([...read().filter(({ messageId }) => messageId !== kept.messageId), kept].slice(-mostKept));
}

/** The server has the message, or nobody wants it sent any more. */
export function forgetWords(messageId: string): void {
  const all = read();
  const rest = all.filter((kept) => kept.messageId !== messageId);
  if (rest.length < all.length) write(rest);
}

/**
 * Takes the words to a conversation that are on their way no more and never got there, oldest first. `is.onItsWay`
 * says which this tab still holds, `is.known` which the server has.
 */
export function takeLostWords(
  conversationId: string,
  is: {
    readonly onItsWay: (messageId: string) => boolean;
    readonly known: (messageId: string) => boolean;
  },
): string[] {
  const all = read();
  const over = all.filter((kept) => kept.conversationId === conversationId && !is.onItsWay(kept.messageId));
  if (over.length === 0) return [];
  write(all.filter((kept) => !over.includes(kept)));
  return over.filter(({ messageId }) => !is.known(messageId)).map(({ text }) => text);
}

function read(): readonly Kept[] {
  try {
    const stored: unknown = JSON.parse(readStored(storedKey) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isKept) : [];
  } catch {
    return [];
  }
}

function write(all: readonly Kept[]): void {
  writeStored(storedKey, all.length === 0 ? null : JSON.stringify(all));
}

function isKept(value: unknown): value is Kept {
  if (typeof value !== "object" || value === null) return false;
  const { conversationId, messageId, text } = value as Partial<Record<keyof Kept, unknown>>;
  return [conversationId, messageId, text].every((each) => typeof each === "string");
}
