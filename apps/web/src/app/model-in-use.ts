import type { ConversationMeta, ModelSource } from "@parley/wire";

const sourceWords: Readonly<Record<ModelSource, string>> = {
  conversation: "set for this conversation",
  "last-turn": "as in the last turn",
  default: "the server's default",
};

/** The model of a conversation's next turn, and the reason for it. */
export interface ModelInUse {
  readonly model: string | undefined;
  /** In words; undefined if the model is the conversation's own choice. */
  readonly why: string | undefined;
}

/**
 * Reads the model from the conversation's metadata; `defaultModel` is used for conversations that the server does not
 * know yet.
 */
export function modelInUse(meta: ConversationMeta | undefined, defaultModel: string | undefined): ModelInUse {
  const { model = defaultModel, modelFrom = "default" } = meta?.effective ?? {};
  return { model, why: modelFrom === "conversation" ? undefined : sourceWords[modelFrom] };
}

/** Returns the description of the model that a conversation without a model of its own continues with. */
export function withoutOwnModel(meta: ConversationMeta | undefined): string {
  return meta === undefined || meta.effective?.modelFrom === "default"
    ? "Server's default"
    : "As in the last turn";
}
