import { cx } from "../../ui/cx.js";
import { formatTokens } from "../figures/figures.js";
import type { TimelineStep } from "../timeline/timeline.js";
import { LegendEntry } from "../timeline/timeline-chart.js";

/** Tokens that each step read and wrote, on one scale. */
export function TokenBars({
  steps,
  label,
}: {
  readonly steps: readonly TimelineStep[];
  readonly label: string;
}) {
  const known = steps.filter(({ usage }) => usage !== undefined);
  if (known.length === 0) {
    const isOpen = steps.some(({ complete }) => !complete);
    return (
      <p className="text-sm text-faint">
        {isOpen ? "They are counted after the answer." : "The provider has not reported any tokens."}
      </p>
    );
  }
  const most = Math.max(
    1,
    ...known.map(({ usage }) => (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0)),
  );
  const isCached = known.some(({ usage }) => (usage?.cacheReadTokens ?? 0) > 0);
  return (
    <figure className="flex flex-col gap-2">
      <ul aria-label={label} className="grid grid-cols-[auto_minmax(0,1fr)_auto] gap-x-2 gap-y-1 text-xs">
        {steps.map((step, index) => (
          <li key={step.stepId} className="col-span-3 grid grid-cols-subgrid items-center">
            <span className="font-medium text-ink">Step {index + 1}</span>
            <TokenBar step={step} most={most} />
            <span className="tabular text-right text-soft">{tokenText(step)}</span>
          </li>
        ))}
      </ul>
      <ul aria-hidden className="flex flex-wrap gap-x-3.5 gap-y-1 text-xs text-soft">
        {isCached && <LegendEntry color="bg-chart-5" text="read from the cache" />}
        <LegendEntry color="bg-chart-4" text="read" />
        <LegendEntry color="bg-chart-1" text="written" />
      </ul>
    </figure>
  );
}

function TokenBar({ step, most }: { readonly step: TimelineStep; readonly most: number }) {
  const { usage } = step;
  const cached = Math.min(usage?.cacheReadTokens ?? 0, usage?.inputTokens ?? 0);
  const parts = [
    { color: "bg-chart-5", tokens: cached },
    { color: "bg-chart-4", tokens: (usage?.inputTokens ?? 0) - cached },
    { color: "bg-chart-1", tokens: usage?.outputTokens ?? 0 },
  ].filter(({ tokens }) => tokens > 0);
  return (
    <span aria-hidden className="flex h-2.5 gap-px">
      {parts.map(({ color, tokens }) => (
        <span
          key={color}
          className={cx("min-w-0.5 rounded-[2px]", color)}
          style={{ width: `${(tokens / most) * 100}%` }}
        />
      ))}
    </span>
  );
}

function tokenText({ usage, complete }: TimelineStep): string {
  if (usage === undefined) return complete ? "unknown" : "under way";
  const cached =
    usage.cacheReadTokens === undefined ? "" : ` (${formatTokens(usage.cacheReadTokens)} cached)`;
  return `${formatTokens(usage.inputTokens)} in${cached}, ${formatTokens(usage.outputTokens)} out`;
}
