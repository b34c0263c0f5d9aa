import type { ModelsResponse, ReasoningEffort } from "@parley/wire";

/** All efforts, from least to most. */
export const efforts: readonly ReasoningEffort[] = ["low", "medium", "high", "xhigh", "max"];

const labels: Readonly<Record<ReasoningEffort, string>> = {
  low: "Low",
  medium: "Medium",
  high: "High",
  xhigh: "Extra high",
  max: "Maximum",
};

/** An effort that can be chosen; `default` means none. */
export interface EffortChoice {
  readonly value: ReasoningEffort | "default";
  readonly label: string;
  readonly note?: string;
}

/** Efforts that are offered for a model. */
export interface OfferedEfforts {
  /** Empty: an effort has no effect. */
  readonly choices: readonly EffortChoice[];
  /** False: it is unknown what an effort does to this model. */
  readonly isKnown: boolean;
}

/** Returns the name of an effort. */
export function effortLabel(effort: ReasoningEffort): string {
  return labels[effort];
}

/**
 * Returns the efforts that have an effect on a model: all of them if that is unknown. An effort that was chosen before
 * and has no effect of its own stays visible beside those, and is labeled so.
 */
export function offeredEfforts(
  models: ModelsResponse | undefined,
  model: string | undefined,
  chosen: ReasoningEffort | null,
): OfferedEfforts {
  const known = model === undefined ? undefined : models?.modelInfo[model]?.efforts;
  if (known?.length === 0) return { choices: [], isKnown: true };
  const offered = efforts.filter((effort) => known?.includes(effort) ?? true);
  const choices: EffortChoice[] = [{ value: "default", label: "Default" }];
  for (const effort of efforts) {
    if (offered.includes(effort)) choices.push({ value: effort, label: labels[effort] });
    else if (effort === chosen) {
      choices.push({ value: effort, label: labels[effort], note: "Not known to this model" });
    }
  }
  return { choices, isKnown: known !== undefined };
}
