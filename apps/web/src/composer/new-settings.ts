import type { ReasoningEffort } from "@parley/wire";
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

/** Takes the choices, so that the conversation after this one starts without them. */
export function takeNewSettings(): NewSettings {
  const taken = useNewSettings.getState();
  useNewSettings.setState(nothing);
  return taken;
}
