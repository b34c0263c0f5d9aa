import type { ConversationMeta, ModelSource } from "@parley/wire";

const sourceWords: Readonly<Record<ModelSource, string>> = {
  conversation: "set for this conversation",
  "last-turn": "as in the last turn",
  default: "the server's default",
};

/** The model of a conversation's next turn, and why it is that one. */
export interface ModelInUse {
  readonly model: string | undefined;
  /** In words; undefined where the model is the conversation's own choice. */
  readonly why: string | undefined;
}

/** Reads it from what the server tells; `defaultModel` stands in for conversations that it does not know yet. */
export function modelInUse(meta: ConversationMeta | undefined, defaultModel: string | undefined): ModelInUse {
  const { model = defaultModel, modelFrom = "default" } = meta?.effective ?? {};
  return { model, why: modelFrom === "conversation" ? undefined : sourceWords[modelFrom] };
}

/** What a conversation without a model of its own goes on with. */
export function withoutOwnModel(meta: ConversationMeta | undefined): string {
  return meta === undefined || meta.effective?.modelFrom === "default"
    ? "Server's default"
    : "As in the last turn";
}
