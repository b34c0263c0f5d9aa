import { formatCost, sumCosts } from "@parley/client/usage";
import type { ProviderCallInfo } from "@parley/wire";
import { PanelSection } from "../panel-section.js";
import { costSumWords } from "./cost-words.js";

export interface StepCostsProps {
  /** A turn's calls, in order. */
  readonly calls: readonly ProviderCallInfo[];
  /** Subject of the list, for screen readers. */
  readonly label: string;
}

/** Cost of each step of a turn, without compactions, if there are several. */
export function StepCosts({ calls, label }: StepCostsProps) {
  const steps = [...new Set(calls.map(({ stepId }) => stepId))];
  const rows = steps.flatMap((stepId, index) => {
    const own = calls.filter((call) => call.stepId === stepId);
    const compactions = own.filter(({ purpose }) => purpose === "compaction");
    const step = own.filter(({ purpose }) => purpose !== "compaction");
    return [
      ...(compactions.length === 0
        ? []
        : [{ name: `Compaction before step ${index + 1}`, calls: compactions }]),
      ...(step.length === 0 ? [] : [{ name: `Step ${index + 1}`, calls: step }]),
    ];
  });
  // The cost of the turn is shown above: one row would add nothing.
  if (rows.length < 2) return null;
  return (
    <PanelSection title="Cost">
      <ul aria-label={label} className="flex flex-col gap-1 text-xs">
        {rows.map(({ name, calls: own }) => {
          const sum = sumCosts(own.map(({ cost }) => cost));
          return (
            <li key={name} className="flex items-baseline justify-between gap-3">
              <span className="font-medium text-ink">{name}</span>
              <span title={costSumWords(sum)} className="tabular text-soft">
                {formatCost(sum)}
              </span>
            </li>
          );
        })}
      </ul>
    </PanelSection>
  );
}
