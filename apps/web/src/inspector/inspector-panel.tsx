import { Tabs } from "@base-ui/react/tabs";
import type { ConversationState } from "@parley/client";
import { useConversationSelector } from "@parley/client/react";
import type { TurnMetrics } from "@parley/wire";
import { Timer, X } from "lucide-react";
import { useEffect, useRef } from "react";
import { type InspectorView, openInspector, useLayout } from "../app/layout/layout-store.js";
import type { InspectorPanelProps } from "../app/layout/panel-props.js";
import { reportFailure } from "../app/report-failure.js";
import { IconButton } from "../ui/icon-button.js";
import { EmptyState } from "../ui/loading/empty-state.js";
import { Skeleton } from "../ui/loading/skeleton.js";
import { ContextView } from "./context/context-view.js";
import { FactsView } from "./figures/facts-view.js";
import type { KnownMetrics } from "./figures/known-metrics.js";
import { TrendsView } from "./figures/trends-view.js";
import { useMetrics } from "./inspector-queries.js";
import { ProblemNote } from "./problem-note.js";
import { inspectedTurns } from "./timeline/inspected-turns.js";
import { TurnPicker } from "./timeline/turn-picker.js";
import { TurnView } from "./timeline/turn-view.js";

const views: readonly { readonly value: InspectorView; readonly label: string }[] = [
  { value: "turn", label: "Turn" },
  { value: "context", label: "Context" },
  { value: "trends", label: "Trends" },
  { value: "facts", label: "About" },
];

/** Inspects a conversation: its turns, the model's context, and time and tokens used. */
export function InspectorPanel({ conversationId, turnId, onClose }: InspectorPanelProps) {
  const view = useLayout((state) => state.inspectorView ?? "turn");
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // If the panel covers the conversation, the focus must not stay behind it.
    if (!matchMedia("(min-width: 64rem)").matches) panel.current?.focus();
  }, []);
  useEffect(() => {
    const element = panel.current;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      event.preventDefault();
      onClose();
    };
    element?.addEventListener("keydown", onKey);
    return () => element?.removeEventListener("keydown", onKey);
  }, [onClose]);
  return (
    <div ref={panel} tabIndex={-1} className="flex min-h-0 flex-1 flex-col outline-none">
      <header className="flex items-center gap-2 px-4 pt-2.5">
        <h2 className="flex-1 text-base font-semibold">Inspector</h2>
        <IconButton label="Close inspector" icon={<X aria-hidden />} onClick={onClose} />
      </header>
      <Tabs.Root
        value={view}
        onValueChange={(next: InspectorView) => useLayout.setState({ inspectorView: next })}
        className="flex min-h-0 flex-1 flex-col"
      >
        <Tabs.List className="flex gap-1 border-b border-line px-3" aria-label="What to inspect">
          {views.map(({ value, label }) => (
            <Tabs.Tab
              key={value}
              value={value}
              className="-mb-px border-b-2 border-transparent px-2.5 py-2 text-sm font-medium text-soft hover:text-ink data-[active]:border-accent data-[active]:text-ink touch:py-3"
            >
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <InspectorViews
          conversationId={conversationId}
          turnId={turnId}
          onPick={(picked) => openInspector(picked, "turn")}
        />
      </Tabs.Root>
    </div>
  );
}

interface TurnsOfState {
  readonly messages: ConversationState["messages"];
  readonly activeTurn: ConversationState["activeTurn"];
  readonly sealed: string;
}

/** Selects only what identifies the turns: a growing answer changes none of it. */
function selectTurns({ messages, activeTurn, turns }: ConversationState): TurnsOfState {
  const newest = messages.findLast(({ turnId }) => turnId !== undefined)?.turnId;
  const isOpen = newest !== undefined && turns[newest]?.status === "running";
  return { messages, activeTurn, sealed: isOpen ? `before ${newest}` : `through ${newest ?? "none"}` };
}

function isSameTurns(a: TurnsOfState, b: TurnsOfState): boolean {
  return (
    a.sealed === b.sealed &&
    a.activeTurn?.turnId === b.activeTurn?.turnId &&
    a.messages.length === b.messages.length &&
    a.messages[0]?.id === b.messages[0]?.id
  );
}

const nothingKnown: KnownMetrics = { turns: [] };

interface InspectorViewsProps {
  readonly conversationId: string;
  readonly turnId: string | undefined;
  readonly onPick: (turnId: string | undefined) => void;
}

function InspectorViews({ conversationId, turnId, onPick }: InspectorViewsProps) {
  const state = useConversationSelector(conversationId, selectTurns, isSameTurns);
  const { query: metrics, isReadingEarlier, readEarlier } = useMetrics(conversationId, state.sealed);
  const turns = inspectedTurns(metrics.data ?? nothingKnown, {
    messages: state.messages,
    ...(state.activeTurn === undefined ? {} : { activeTurn: state.activeTurn }),
  });
  const place = turns.findIndex((turn) => turn.turnId === turnId);
  const index = place < 0 ? turns.length - 1 : place;
  const turn = turns[index];
  const hasEarlier = metrics.data?.nextBefore !== undefined;
  const showEarlier = (then: (read: readonly TurnMetrics[]) => void = () => undefined) => {
    readEarlier().then(then, (error: unknown) => reportFailure("Earlier turns could not be read", error));
  };
  const panelClass = "min-h-0 flex-1 overflow-y-auto px-4 py-4 outline-offset-[-2px]";
  const problem = metrics.isError && (
    <div className="mb-4">
      <ProblemNote
        title="The turns could not be read."
        error={metrics.error}
        onRetry={() => metrics.refetch()}
      />
    </div>
  );
  return (
    <>
      <Tabs.Panel value="turn" className={panelClass}>
        {problem}
        {turn !== undefined ? (
          <div className="flex flex-col gap-4">
            <TurnPicker
              turns={turns}
              turnId={turn.turnId}
              onPick={onPick}
              onEarlier={
                hasEarlier && !isReadingEarlier
                  ? () => showEarlier((read) => onPick(read.at(-1)?.turnId ?? turn.turnId))
                  : undefined
              }
            />
            <TurnView
              key={turn.turnId}
              conversationId={conversationId}
              turn={turn}
              previousTurnId={turns[index - 1]?.turnId}
            />
          </div>
        ) : metrics.isPending ? (
          <Skeleton className="h-40 w-full bg-line/70!" />
        ) : (
          <EmptyState icon={<Timer />} title="No turn yet">
            Send a message: each of its steps is drawn here while it happens.
          </EmptyState>
        )}
      </Tabs.Panel>
      <Tabs.Panel value="context" className={panelClass}>
        <ContextView
          conversationId={conversationId}
          turn={turns.at(-1)}
          previousTurnId={turns.at(-2)?.turnId}
        />
      </Tabs.Panel>
      <Tabs.Panel value="trends" className={panelClass}>
        {problem}
        {metrics.isPending ? (
          <Skeleton className="h-40 w-full bg-line/70!" />
        ) : (
          <TrendsView
            turns={metrics.data?.turns ?? nothingKnown.turns}
            onPick={onPick}
            earlier={hasEarlier ? { isReading: isReadingEarlier, onRead: () => showEarlier() } : undefined}
          />
        )}
      </Tabs.Panel>
      <Tabs.Panel value="facts" className={panelClass}>
        <FactsView conversationId={conversationId} />
      </Tabs.Panel>
    </>
  );
}
