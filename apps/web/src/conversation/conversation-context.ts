import type { ConversationHandle, MessageState } from "@parley/client";
import type { SentPart } from "@parley/wire";
import { createContext, useContext } from "react";
import type { BranchPoint } from "../list/branches.js";

/** Actions of the rows of a conversation. */
export interface ConversationActions {
  readonly conversationId: string;
  readonly handle: ConversationHandle;
  /** The message that is being edited. */
  readonly editingId: string | undefined;
  readonly edit: (messageId: string | undefined) => void;
  /**
   * Branches off: makes a fork in front of these messages, opened by this text and by their files, or by other ones. A
   * model that is given becomes the fork's.
   */
  readonly branch: (
    opening: readonly MessageState[],
    text: string,
    other?: { readonly parts?: readonly SentPart[] | undefined; readonly model?: string | undefined },
  ) => Promise<void>;
  /** Places where this conversation has siblings, by the last seq that they share. */
  readonly branches: ReadonlyMap<number, BranchPoint>;
  /** Summaries after this seq are undone. Undefined if that is not known. */
  readonly undoneBehind: number | undefined;
}

export const ConversationContext = createContext<ConversationActions | undefined>(undefined);

/** Returns the actions of the conversation around this component. */
export function useConversationActions(): ConversationActions {
  const actions = useContext(ConversationContext);
  if (actions === undefined) throw new Error("There is no conversation above this component");
  return actions;
}
