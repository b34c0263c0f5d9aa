import type { ModelsResponse, ReasoningEffort } from "@parley/wire";

/** The efforts that there are, from least to most. */
export const efforts: readonly ReasoningEffort[] = ["low", "medium", "high", "xhigh", "max"];

const labels: Readonly<Record<ReasoningEffort, string>> = {
  low: "Low",
  medium: "Medium",
  high: "High",
  xhigh: "Extra high",
  max: "Maximum",
};

/** An effort that can be chosen; `default` stands for none. */
export interface EffortChoice {
  readonly value: ReasoningEffort | "default";
  readonly label: string;
  readonly note?: string;
}

/** What is offered for a model. */
export interface OfferedEfforts {
  /** None: an effort has no effect. */
  readonly choices: readonly EffortChoice[];
  /** False: nobody knows what an effort does to this model. */
  readonly isKnown: boolean;
}

/** Names an effort. */
export function effortLabel(effort: ReasoningEffort): string {
  return labels[effort];
}

/**
 * The efforts that make a difference for a model: all of them where nobody knows. One that was chosen before and has no
 * effect of its own stays visible beside those, and says so.
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
