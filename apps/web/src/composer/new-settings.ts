import type { CreateConversationRequest, ReasoningEffort } from "@parley/wire";
import { create } from "zustand";

/** What was chosen for a conversation that does not exist yet. */
export interface NewSettings {
  readonly model: string | null;
  readonly reasoningEffort: ReasoningEffort | null;
  readonly instructions: string | null;
}

const nothing: NewSettings = { model: null, reasoningEffort: null, instructions: null };

/** The choices for the next new conversation. */
export const useNewSettings = create<NewSettings>()(() => nothing);

/** Takes the choices, so that the conversation after this one starts without them. Undefined when nothing was chosen. */
export function takeNewSettings(): CreateConversationRequest | undefined {
  const { model, reasoningEffort, instructions } = useNewSettings.getState();
  useNewSettings.setState(nothing);
  if (model === null && reasoningEffort === null && instructions === null) return undefined;
  return {
    ...(model === null ? {} : { model }),
    ...(reasoningEffort === null ? {} : { reasoningEffort }),
    ...(instructions === null ? {} : { instructions }),
  };
}
