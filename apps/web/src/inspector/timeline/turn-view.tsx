import type { ConversationState, TurnState } from "@parley/client";
import { useConversationSelector } from "@parley/client/react";
import type { TurnDetail } from "@parley/wire";
import { useCallback, useState } from "react";
import { Badge, type BadgeTone } from "../../ui/badge.js";
import { Skeleton } from "../../ui/loading/skeleton.js";
import { CallList } from "../context/call-list.js";
import { TokenBars } from "../context/token-bars.js";
import { costSumWords, turnCost } from "../figures/cost-words.js";
import { formatDuration, formatTokens, knownUsage } from "../figures/figures.js";
import { StepCosts } from "../figures/step-costs.js";
import { useTurnDetail } from "../inspector-queries.js";
import { type Fact, FactList, PanelSection } from "../panel-section.js";
import { ProblemNote } from "../problem-note.js";
import { useNow } from "../use-now.js";
import { ViewSwitch } from "../view-switch.js";
import type { InspectedTurn } from "./inspected-turns.js";
import { layoutTimeline, type Timeline, type TimelineTurn } from "./timeline.js";
import { TimelineChart } from "./timeline-chart.js";
import { TimelineTable } from "./timeline-table.js";
import { liveToolsOf, turnTimeline } from "./turn-timeline.js";

export interface TurnViewProps {
  readonly conversationId: string;
  readonly turn: InspectedTurn;
  /** The turn before it, to compare its last call with. */
  readonly previousTurnId?: string | undefined;
}

/** One turn: its time, its tokens, and the requests of its calls. */
export function TurnView({ conversationId, turn, previousTurnId }: TurnViewProps) {
  const { turnId } = turn;
  const live = useConversationSelector(
    conversationId,
    useCallback((state: ConversationState) => state.turns[turnId], [turnId]),
  );
  const liveTools = useConversationSelector(
    conversationId,
    useCallback((state: ConversationState) => liveToolsOf(state, turnId), [turnId]),
    isSameJson,
  );
  const isRunning = turn.metrics === undefined && live?.status === "running";
  const finished = Object.values(liveTools)
    .flat()
    .filter(({ status }) => status === "done" || status === "failed").length;
  const isWaiting = Object.values(liveTools).some((tools) =>
    tools.some(({ status }) => status === "waiting"),
  );
  const revision = isRunning
    ? `${live.steps.filter(({ complete }) => complete).length}/${finished}`
    : "sealed";
  const detail = useTurnDetail(conversationId, turnId, revision);
  const previous = useTurnDetail(conversationId, previousTurnId, "sealed");
  const now = useNow(isRunning);
  const known = detail.data;
  const timelineTurn = turnTimeline({
    live,
    liveTools,
    metrics: turn.metrics ?? known?.metrics,
    startedAt: known?.startedAt,
    calls: known?.providerCalls,
    chunks: known?.chunks,
    now,
  });
  if (turn.metrics === undefined && live === undefined && known === undefined) {
    return detail.isError ? (
      <ProblemNote
        title="The turn could not be read."
        error={detail.error}
        onRetry={() => detail.refetch()}
      />
    ) : (
      <div role="status" aria-label="Reading the turn" className="flex flex-col gap-4">
        <Skeleton className="h-20 w-full bg-line/70!" />
        <Skeleton className="h-40 w-full bg-line/70!" />
      </div>
    );
  }
  return (
    <div className="flex flex-col gap-6">
      <TurnFacts
        turn={turn}
        detail={known}
        isRunning={isRunning}
        isWaiting={isWaiting}
        timeline={timelineTurn}
        live={live}
      />
      <TimeSection name={turn.name} turn={timelineTurn} />
      <PanelSection title="Tokens">
        <TokenBars steps={timelineTurn.steps} label={`Tokens of ${lowerFirst(turn.name)} by step`} />
      </PanelSection>
      {known !== undefined && (
        <StepCosts calls={known.providerCalls} label={`Cost of ${lowerFirst(turn.name)} by step`} />
      )}
      <PanelSection title="What the model was sent">
        {detail.isError && known === undefined ? (
          <ProblemNote
            title="The calls could not be read."
            error={detail.error}
            onRetry={() => detail.refetch()}
          />
        ) : known === undefined ? (
          <Skeleton className="h-24 w-full bg-line/70!" />
        ) : (
          <CallList
            conversationId={conversationId}
            calls={known.providerCalls}
            callBefore={previous.data?.providerCalls.at(-1)}
            isRunning={isRunning}
          />
        )}
      </PanelSection>
    </div>
  );
}

function isSameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function TimeSection({ name, turn }: { readonly name: string; readonly turn: TimelineTurn }) {
  const [view, setView] = useState<"chart" | "table">("chart");
  const timeline = layoutTimeline(turn);
  const label = timelineLabel(name, turn, timeline);
  return (
    <PanelSection
      title="Time"
      aside={
        <ViewSwitch
          label="How the time is shown"
          views={[
            { value: "chart", label: "Chart" },
            { value: "table", label: "Table" },
          ]}
          value={view}
          onChange={setView}
        />
      }
    >
      {timeline.rows.length === 0 ? (
        <p className="text-sm text-faint">No step of this turn was recorded.</p>
      ) : view === "chart" ? (
        <TimelineChart timeline={timeline} label={label} />
      ) : (
        <TimelineTable steps={turn.steps} caption={label} />
      )}
      {turn.now === undefined && timeline.rows.length > 0 && (
        <p className="text-xs text-soft">{spentText(timeline)}</p>
      )}
    </PanelSection>
  );
}

function timelineLabel(name: string, turn: TimelineTurn, timeline: Timeline): string {
  const steps = `${turn.steps.length} ${turn.steps.length === 1 ? "step" : "steps"}`;
  const count = timeline.rows.filter(({ kind }) => kind === "tool").length;
  const tools = count === 0 ? "" : ` and ${count} ${count === 1 ? "tool call" : "tool calls"}`;
  const time = turn.now === undefined ? ` in ${formatDuration(turn.durationMs)}` : ", under way";
  return `Timeline of ${lowerFirst(name)}: ${steps}${tools}${time}`;
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

function spentText({ spent }: Timeline): string {
  const parts = [
    `${formatDuration(spent.waitMs)} until the first tokens`,
    `${formatDuration(spent.writeMs)} writing`,
    ...(spent.toolMs > 0 ? [`${formatDuration(spent.toolMs)} in tools`] : []),
    ...(spent.inputMs === undefined ? [] : [`${formatDuration(spent.inputMs)} waiting for decisions`]),
    ...(spent.restMs === undefined ? [] : [`${formatDuration(spent.restMs)} between them`]),
  ];
  return `${parts.join(", ")}.`;
}

const reasons: Readonly<Record<string, { readonly text: string; readonly tone: BadgeTone }>> = {
  stop: { text: "Done", tone: "good" },
  "tool-calls": { text: "Ended on tool calls", tone: "plain" },
  length: { text: "Cut at the output limit", tone: "warn" },
  "content-filter": { text: "Withheld by the provider", tone: "warn" },
  "max-steps": { text: "Reached its limit of steps", tone: "warn" },
  aborted: { text: "Stopped", tone: "warn" },
  error: { text: "Failed", tone: "danger" },
  interrupted: { text: "Interrupted", tone: "warn" },
};

interface TurnFactsProps {
  readonly turn: InspectedTurn;
  readonly detail: TurnDetail | undefined;
  readonly isRunning: boolean;
  /** A call waits for a decision. */
  readonly isWaiting: boolean;
  readonly timeline: TimelineTurn;
  readonly live: TurnState | undefined;
}

function TurnFacts({ turn, detail, isRunning, isWaiting, timeline, live }: TurnFactsProps) {
  const { metrics } = turn;
  const ended = metrics?.reason ?? detail?.reason ?? live?.reason;
  const model = metrics?.model ?? detail?.model ?? live?.model;
  const usage = knownUsage(metrics?.usage);
  const durationMs = timeline.durationMs ?? metrics?.durationMs;
  const waitedMs = timeline.waitedMs ?? live?.waitedMs ?? 0;
  const facts: Fact[] = [
    { name: "Model", value: model ?? "unknown" },
    ...(isRunning ? [] : [{ name: "Duration", value: formatDuration(durationMs) }]),
    ...(waitedMs === 0 ? [] : [{ name: "Of it, waiting for decisions", value: formatDuration(waitedMs) }]),
    ...(isRunning
      ? []
      : [
          {
            name: "Tokens",
            value:
              usage === undefined
                ? "unknown"
                : `${formatTokens(usage.inputTokens)} read, ${formatTokens(usage.outputTokens)} written`,
          },
          ...(metrics === undefined ? [] : [{ name: "Cost", value: costSumWords(turnCost(metrics)) }]),
        ]),
  ];
  const failure = detail?.chunks.findLast(({ chunk }) => chunk.type === "error")?.chunk;
  if (failure?.type === "error") facts.push({ name: "Error", value: failure.message });
  const known = ended === undefined || !Object.hasOwn(reasons, ended) ? undefined : reasons[ended];
  return (
    <div className="flex flex-col gap-2.5">
      <div>
        {isRunning ? (
          <Badge tone={isWaiting ? "warn" : "accent"}>{isWaiting ? "Waits for a decision" : "Running"}</Badge>
        ) : ended === undefined ? null : (
          <Badge tone={known?.tone ?? "plain"}>{known?.text ?? ended}</Badge>
        )}
      </div>
      <FactList facts={facts} />
    </div>
  );
}
