import type { CreateConversationRequest, ReasoningEffort } from "@parley/wire";
import { create } from "zustand";
import { efforts } from "../app/efforts.js";
import { readStored, writeStored } from "../app/stored.js";

/** Settings chosen for a conversation that does not exist yet. */
export interface NewSettings {
  readonly model: string | null;
  readonly reasoningEffort: ReasoningEffort | null;
  readonly instructions: string | null;
}

const nothing: NewSettings = { model: null, reasoningEffort: null, instructions: null };
const storedKey = "parley.new-conversations";

/** The settings that every new conversation of this browser starts with. */
export const useDefaultSettings = create<NewSettings>()(() => readDefaults(readStored(storedKey)));

/** The choices for the next new conversation. */
export const useNewSettings = create<NewSettings>()(() => useDefaultSettings.getState());

/** Stores the settings that new conversations of this browser start with. They apply from the next one on. */
export function setDefaults(change: Partial<NewSettings>): void {
  const next = { ...useDefaultSettings.getState(), ...change };
  const isNothing = next.model === null && next.reasoningEffort === null && next.instructions === null;
  writeStored(storedKey, isNothing ? null : JSON.stringify(next));
  useDefaultSettings.setState(next);
  useNewSettings.setState(change);
}

/**
 * Returns the choices and resets them, so that the conversation after this one starts with the defaults again.
 * Undefined if nothing was chosen.
 */
export function takeNewSettings(): CreateConversationRequest | undefined {
  const { model, reasoningEffort, instructions } = useNewSettings.getState();
  useNewSettings.setState(useDefaultSettings.getState());
  if (model === null && reasoningEffort === null && instructions === null) return undefined;
  return {
    ...(model === null ? {} : { model }),
    ...(reasoningEffort === null ? {} : { reasoningEffort }),
    ...(instructions === null ? {} : { instructions }),
  };
}

/** Parses stored defaults; leaves out invalid ones. */
export function readDefaults(stored: string | null): NewSettings {
  if (stored === null) return nothing;
  let value: unknown;
  try {
    value = JSON.parse(stored);
  } catch {
    return nothing;
  }
  if (typeof value !== "object" || value === null) return nothing;
  const { model, reasoningEffort, instructions } = value as Record<string, unknown>;
  return {
    model: typeof model === "string" ? model : null,
    reasoningEffort:
      typeof reasoningEffort === "string" && efforts.some((effort) => effort === reasoningEffort)
        ? (reasoningEffort as ReasoningEffort)
        : null,
    instructions: typeof instructions === "string" ? instructions : null,
  };
}
