import { isFields } from "./canonical/normalize-part.js";
import type { ConversationMessage } from "./message.js";
import type { MessageContentPart } from "./part.js";

/** Entry of the log that takes a message, or one of its parts, out of lists and out of what models are shown. */
export interface HiddenEntry {
  readonly type: "hidden";
  readonly messageId: string;
  /** Absent: the whole message. */
  readonly partIndex?: number;
}

/** Returns the entry that a part of a `system` message holds, if it holds one. */
export function hiddenEntryOf(part: MessageContentPart): HiddenEntry | undefined {
  if (part.type !== "metadata" || !isFields(part.data)) return undefined;
  const { type, messageId } = part.data;
  return type === "hidden" && typeof messageId === "string"
    ? (part.data as unknown as HiddenEntry)
    : undefined;
}

/** Returns the entry of a message, if it is one. */
export function hiddenEntryOfMessage(
  message: Pick<ConversationMessage, "role" | "content">,
): HiddenEntry | undefined {
  const [part] = message.content;
  if (message.role !== "system" || part === undefined || message.content.length !== 1) return undefined;
  return hiddenEntryOf(part);
}

/** Returns the message id of an entry in the log: hiding twice is the same as hiding once. */
export function hiddenMessageId({ messageId, partIndex }: Omit<HiddenEntry, "type">): string {
  return partIndex === undefined ? `${messageId}.hidden` : `${messageId}.${partIndex}.hidden`;
}

/**
 * Messages and parts that entries have hidden, for a log that is read from its newest end: an entry follows what it
 * hides.
 */
export class HiddenParts {
  readonly #messages = new Set<string>();
  readonly #parts = new Map<string, Set<number>>();

  /** Adds an entry. */
  add({ messageId, partIndex }: HiddenEntry): void {
    if (partIndex === undefined) this.#messages.add(messageId);
    else this.#parts.set(messageId, new Set([...(this.#parts.get(messageId) ?? []), partIndex]));
  }

  /** Returns true for a part that is hidden. */
  has(messageId: string, partIndex: number): boolean {
    return this.#messages.has(messageId) || this.#parts.get(messageId)?.has(partIndex) === true;
  }

  /** Returns what is left of a message; undefined if nothing is. */
  without<Message extends Pick<ConversationMessage, "id" | "content">>(
    message: Message,
  ): Message | undefined {
    if (this.#messages.has(message.id)) return undefined;
    const parts = this.#parts.get(message.id);
    if (parts === undefined) return message;
    const content = message.content.filter((_, index) => !parts.has(index));
    return content.length === 0 ? undefined : { ...message, content };
  }
}
