import { formatCost } from "@parley/client/usage";
import type { TurnMetrics } from "@parley/wire";
import { ChartLine } from "lucide-react";
import { useMemo, useState } from "react";
import { Button } from "../../ui/button.js";
import { EmptyState } from "../../ui/loading/empty-state.js";
import { PanelSection } from "../panel-section.js";
import { turnNames } from "../timeline/inspected-turns.js";
import { ViewSwitch } from "../view-switch.js";
import { turnCost } from "./cost-words.js";
import { FigureTable } from "./figure-table.js";
import { formatDuration, formatShare, formatTokens, formatTokensShort } from "./figures.js";
import { TrendChart, type TrendSeries } from "./trend-chart.js";
import { trendsOf } from "./trends.js";

export interface TrendsViewProps {
  /** Sealed turns, oldest first. */
  readonly turns: readonly TurnMetrics[];
  readonly onPick: (turnId: string) => void;
  /** Present if there are turns before these. */
  readonly earlier?: { readonly isReading: boolean; readonly onRead: () => void } | undefined;
}

/** Figures of a conversation from turn to turn. */
export function TrendsView({ turns, onPick, earlier }: TrendsViewProps) {
  const [view, setView] = useState<"charts" | "table">("charts");
  const isWhole = earlier === undefined;
  const trends = useMemo(() => trendsOf(turns, isWhole), [turns, isWhole]);
  const names = useMemo(() => turnNames(turns.length, isWhole), [turns.length, isWhole]);
  const lines = useMemo(
    () => ({
      latency: [
        { label: "Whole turn", values: trends.durationMs, color: "chart-3" },
        { label: "First token", values: trends.ttftMs, color: "chart-2" },
      ] satisfies TrendSeries[],
      tokens: [
        { label: "Read", values: trends.inputTokens, color: "chart-4" },
        { label: "Written", values: trends.outputTokens, color: "chart-1" },
        { label: "In context", values: trends.contextSize, color: "chart-5" },
      ] satisfies TrendSeries[],
      cache: [
        { label: "From the cache", values: trends.cachePercent, color: "chart-5" },
      ] satisfies TrendSeries[],
    }),
    [trends],
  );
  if (turns.length < 2) {
    return (
      <EmptyState icon={<ChartLine />} title="Nothing to compare yet">
        Trends are drawn from the second turn on.
      </EmptyState>
    );
  }
  const pick = (index: number) => {
    const turn = turns[index];
    if (turn !== undefined) onPick(turn.turnId);
  };
  const shared = { names, turns: trends.turns, onPick: pick };
  const count = earlier === undefined ? `${turns.length} turns` : `the newest ${turns.length} turns`;
  const hasCache = trends.cachePercent.some((value) => value !== null);
  return (
    <div className="flex flex-col gap-6">
      <div className="flex items-center justify-between gap-3">
        <div className="flex flex-wrap items-center gap-2">
          <p className="text-sm text-soft">{`${count.charAt(0).toUpperCase()}${count.slice(1)}`}</p>
          {earlier !== undefined && (
            <Button size="small" tone="quiet" disabled={earlier.isReading} onClick={earlier.onRead}>
              Earlier turns
            </Button>
          )}
        </div>
        <ViewSwitch
          label="How the trends are shown"
          views={[
            { value: "charts", label: "Charts" },
            { value: "table", label: "Table" },
          ]}
          value={view}
          onChange={setView}
        />
      </div>
      {view === "table" ? (
        <TrendTable turns={turns} names={names} onPick={pick} />
      ) : (
        <>
          <PanelSection title="Time">
            <TrendChart
              {...shared}
              label={`Time of ${count}`}
              series={lines.latency}
              format={formatDuration}
            />
          </PanelSection>
          <PanelSection title="Tokens">
            <TrendChart
              {...shared}
              label={`Tokens of ${count}`}
              series={lines.tokens}
              format={formatTokensShort}
            />
          </PanelSection>
          <PanelSection title="Cache">
            {hasCache ? (
              <TrendChart
                {...shared}
                label={`Share of the input from the provider's cache in ${count}`}
                series={lines.cache}
                format={(percent) => formatShare(percent / 100)}
                max={100}
              />
            ) : (
              <p className="text-sm text-faint">The provider does not say what it reads from its cache.</p>
            )}
          </PanelSection>
        </>
      )}
    </div>
  );
}

function TrendTable({
  turns,
  names,
  onPick,
}: {
  readonly turns: readonly TurnMetrics[];
  readonly names: readonly string[];
  readonly onPick: (index: number) => void;
}) {
  const trends = useMemo(() => trendsOf(turns), [turns]);
  const at = (values: readonly (number | null)[], index: number) => values[index] ?? undefined;
  return (
    <FigureTable
      caption="Figures by turn"
      columns={["Turn", "First token", "Whole turn", "Read", "Cached", "Written", "In context", "Cost"]}
      rows={turns.map((turn, index) => {
        const cached = at(trends.cachePercent, index);
        return {
          key: turn.turnId,
          cells: [
            <button
              key="turn"
              type="button"
              onClick={() => onPick(index)}
              className="rounded-sm text-accent underline decoration-accent/40 underline-offset-2"
            >
              {names[index]}
            </button>,
            formatDuration(at(trends.ttftMs, index)),
            formatDuration(at(trends.durationMs, index)),
            formatTokens(at(trends.inputTokens, index)),
            cached === undefined ? "not reported" : formatShare(cached / 100),
            formatTokens(at(trends.outputTokens, index)),
            formatTokens(at(trends.contextSize, index)),
            formatCost(turnCost(turn)),
          ],
        };
      })}
    />
  );
}
