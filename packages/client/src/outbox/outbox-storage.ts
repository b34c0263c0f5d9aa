import type { UploadInfo } from "@parley/wire";
import type { OutgoingMessage } from "../connection/link.js";

/** A message as it is stored until the server has it: everything that sending it again needs. */
export type StoredMessage = OutgoingMessage & {
  /** Time when it was first sent, in epoch milliseconds. */
  readonly createdAt: number;
  /** The files that its parts name, as they are shown until the server has the message. */
  readonly files?: readonly UploadInfo[] | undefined;
};

/**
 * Storage for messages that the server does not have, so that their text outlives the page. A stored message belongs
 * to the page that sends it. None of its functions throws: what cannot be stored is sent anyway.
 */
export interface OutboxStorage {
  /** Stores a message for this page. Replaces one with the same id. */
  save(message: StoredMessage): void;
  /** Removes a message: the server has it, or it is not to be sent any more. */
  remove(messageId: string): void;
  /**
   * Assigns to this page the messages to a conversation that it stored itself, or that a closed page stored, and calls
   * back with them, oldest first. Calls back again when another page with messages closes, until the signal aborts.
   */
  adopt(
    conversationId: string,
    signal: AbortSignal,
    take: (messages: readonly StoredMessage[]) => void,
  ): void;
}
