import { Meter } from "@base-ui/react/meter";
import type { ConversationState } from "@parley/client";
import { useConversationSelector } from "@parley/client/react";
import type { ContextManifest, Usage } from "@parley/wire";
import { CompactionControls } from "../../compaction/compaction-controls.js";
import { isContextChanged } from "../../conversation/context-changed.js";
import { cx } from "../../ui/cx.js";
import { formatShare, formatTokens } from "../figures/figures.js";
import { useCompactThreshold, useTurnDetail } from "../inspector-queries.js";
import { PanelSection } from "../panel-section.js";
import { ProblemNote } from "../problem-note.js";
import type { InspectedTurn } from "../timeline/inspected-turns.js";
import { outlookWords, partColors, partWords } from "./context-words.js";
import { composeGauge, type Gauge } from "./gauge.js";
import { ThresholdField } from "./threshold-field.js";

export interface ContextViewProps {
  readonly conversationId: string;
  /** The newest turn; absent in a conversation without one. */
  readonly turn?: InspectedTurn | undefined;
  readonly previousTurnId?: string | undefined;
}

/** Usage of the model's window, its parts, and the actions to change it. */
export function ContextView({ conversationId, turn, previousTurnId }: ContextViewProps) {
  const size = useConversationSelector(conversationId, selectSize, isSameSize);
  const threshold = useCompactThreshold(conversationId, size.contextWindow);
  const live = useConversationSelector(conversationId, selectTurns)[turn?.turnId ?? ""];
  const isRunning = live?.status === "running";
  const completed = live?.steps.filter(({ complete }) => complete).length ?? 0;
  const newest = useTurnDetail(conversationId, turn?.turnId, isRunning ? `${completed}/context` : "sealed");
  const before = useTurnDetail(conversationId, previousTurnId, "sealed");
  const call = newestStepCall(newest.data?.providerCalls) ?? newestStepCall(before.data?.providerCalls);
  const isChanged = useConversationSelector(conversationId, (state) =>
    isContextChanged(state, call?.manifest?.segments.some(({ kind }) => kind === "summary") ?? false),
  );
  const gauge = composeGauge({
    contextSize: contextSizeNow(size.contextSize, isRunning ? call?.usage : undefined),
    contextWindow: size.contextWindow,
    compactThreshold: threshold.data?.compactThreshold,
    defaultThreshold: threshold.data?.defaultThreshold,
    manifest: call?.manifest,
    usage: call?.usage,
    changedSince: isChanged,
  });
  return (
    <div className="flex flex-col gap-6">
      <PanelSection title="In the model's window">
        <GaugeMeter gauge={gauge} />
        <GaugeParts gauge={gauge} />
      </PanelSection>
      <PanelSection title="Compaction">
        <p className="text-sm text-soft">{outlookWords(gauge.outlook)}</p>
        {threshold.isError && (
          <ProblemNote
            title="The threshold could not be read."
            error={threshold.error}
            onRetry={() => threshold.refetch()}
          />
        )}
        {threshold.data !== undefined && (
          <ThresholdField
            conversationId={conversationId}
            threshold={threshold.data.compactThreshold}
            byDefault={threshold.data.defaultThreshold}
          />
        )}
        <CompactionControls conversationId={conversationId} />
      </PanelSection>
    </div>
  );
}

interface ContextSize {
  readonly contextSize: number | undefined;
  readonly contextWindow: number | undefined;
}

const selectSize = ({ contextSize, contextWindow }: ConversationState): ContextSize => ({
  contextSize,
  contextWindow,
});
const isSameSize = (a: ContextSize, b: ContextSize) =>
  a.contextSize === b.contextSize && a.contextWindow === b.contextWindow;
const selectTurns = ({ turns }: ConversationState) => turns;

/** Returns the size of the context. While a turn runs, its newest step is more recent than the previous turn. */
function contextSizeNow(stored: number | undefined, usage: Usage | undefined): number | undefined {
  return usage === undefined ? stored : usage.inputTokens + usage.outputTokens;
}

function newestStepCall(
  calls: readonly {
    readonly purpose?: string;
    readonly manifest?: ContextManifest;
    readonly usage?: Usage;
  }[] = [],
) {
  return calls.findLast(({ purpose, manifest }) => purpose !== "compaction" && manifest !== undefined);
}

const levelColors: Readonly<Record<Gauge["level"], string>> = {
  unknown: "text-ink",
  calm: "text-ink",
  near: "text-warn",
  full: "text-danger",
};

function GaugeMeter({ gauge }: { readonly gauge: Gauge }) {
  const { used, limit, share, parts, outlook } = gauge;
  const about = gauge.isEstimate ? "about " : "";
  const text = `${about}${formatTokens(used)} of ${formatTokens(limit)} tokens`;
  const mark = outlook.kind === "automatic" && limit !== undefined ? outlook.atTokens / limit : undefined;
  return (
    <div className="flex flex-col gap-2">
      <p className="tabular flex items-baseline gap-2">
        <span className={cx("text-xl font-semibold", levelColors[gauge.level])}>{formatShare(share)}</span>
        <span className="text-sm text-soft">{text}</span>
      </p>
      <div className="relative">
        <Meter.Root
          aria-label="Context used"
          min={0}
          max={limit ?? 1}
          value={used === undefined || limit === undefined ? 0 : Math.min(used, limit)}
          aria-valuetext={text}
        >
          <Meter.Track
            className={cx(
              "flex h-3.5 gap-px overflow-hidden rounded-md bg-sunken",
              used === undefined &&
                "bg-[repeating-linear-gradient(45deg,var(--line)_0_4px,transparent_4px_8px)]",
            )}
          >
            {share !== undefined &&
              parts.map((part) => (
                <span
                  key={part.kind}
                  className={cx("min-w-px", partColors[part.kind])}
                  style={{ width: `${part.share * share * 100}%` }}
                />
              ))}
          </Meter.Track>
        </Meter.Root>
        {mark !== undefined && mark < 1 && (
          <span
            aria-hidden
            title="Compaction"
            className="absolute -inset-y-1 w-0.5 rounded-full bg-ink"
            style={{ left: `${mark * 100}%` }}
          />
        )}
      </div>
      {gauge.isEstimate && (
        <p className="text-xs text-faint">Estimated: the provider has not reported what it read.</p>
      )}
      {used === undefined && (
        <p className="text-xs text-faint">
          {gauge.isOutdated
            ? "What the model reads has changed since its last answer. Its size is known after the next answer."
            : "How much is used is known after the first answer."}
        </p>
      )}
    </div>
  );
}

function GaugeParts({ gauge }: { readonly gauge: Gauge }) {
  if (gauge.parts.length === 0) return null;
  return (
    <ul aria-label="What the context is made of" className="flex flex-col text-sm">
      {gauge.parts.map((part) => (
        <li key={part.kind} className="flex items-center gap-2 border-b border-line py-1 last:border-b-0">
          <span aria-hidden className={cx("size-2.5 shrink-0 rounded-[3px]", partColors[part.kind])} />
          <span className="flex-1 text-ink">{partWords[part.kind]}</span>
          <span className="tabular text-soft">{formatTokens(part.tokens)}</span>
          <span className="tabular w-12 text-right text-faint">{formatShare(part.share)}</span>
        </li>
      ))}
    </ul>
  );
}
