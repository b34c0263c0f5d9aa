import type { PartState } from "@parley/client";
import { ChevronRight } from "lucide-react";
import { memo, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { cx } from "../../ui/cx.js";
import { formatDuration } from "../../ui/text/format.js";
import { AnswerText } from "./answer-text.js";

/** Start and end of reasoning, as this tab saw it: for providers that do not report it. */
const seen = new Map<string, { readonly from: number; until?: number }>();

export interface ReasoningFoldProps {
  readonly part: PartState;
  /** The model has written something after it. */
  readonly answered: boolean;
}

/**
 * The model's reasoning: open while it thinks, folded with its duration once the answer starts. A click overrides this.
 */
export const ReasoningFold = memo(function ReasoningFold({ part, answered }: ReasoningFoldProps) {
  const id = useId();
  const { chunk, streaming } = part;
  const thinking = streaming && !answered;
  const [chosen, setChosen] = useState<boolean>();
  const open = chosen ?? thinking;
  const elapsed = useElapsed(part.key, thinking);
  if (chunk.type !== "thinking") return null;
  const reported =
    "durationMs" in chunk && typeof chunk.durationMs === "number" ? chunk.durationMs : undefined;
  const duration = reported ?? elapsed;
  const hasText = chunk.text.trim() !== "";
  const label = thinking
    ? `Thinking${duration === undefined || duration < 1_000 ? "" : ` for ${formatDuration(duration - (duration % 1_000))}`}`
    : duration === undefined
      ? "Thought"
      : duration < 1_000
        ? "Thought for a moment"
        : `Thought for ${formatDuration(duration)}`;
  if (!hasText && !thinking)
    return duration === undefined ? null : <p className="mb-2 text-sm text-faint">{label}</p>;
  return (
    <div className="mb-2">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setChosen(!open)}
        className="-ml-1 inline-flex items-center gap-1 rounded-md px-1 py-1 text-sm text-faint hover:text-ink touch:py-2"
      >
        <ChevronRight aria-hidden className={cx("size-4 transition-transform", open && "rotate-90")} />
        <span className={cx("tabular", thinking && "animate-pulse-soft")}>{label}</span>
      </button>
      {open && (
        <div id={id} className="mt-1 ml-1.5 border-l-2 border-line pl-4">
          <Tail following={thinking} grows={chunk.text.length}>
            <div className="text-soft [--md-size:0.9375rem]">
              <AnswerText text={chunk.text} streaming={streaming} />
            </div>
          </Tail>
        </div>
      )}
    </div>
  );
});

/** While it grows, a box of limited height that shows its end; then at full height. */
function Tail({
  following,
  grows,
  children,
}: {
  readonly following: boolean;
  readonly grows: number;
  readonly children: React.ReactNode;
}) {
  const box = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows what grows
  useLayoutEffect(() => {
    if (following && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [following, grows]);
  return (
    <div ref={box} className={following ? "max-h-48 overflow-hidden" : undefined}>
      {children}
    </div>
  );
}

function useElapsed(key: string, thinking: boolean): number | undefined {
  const [, tick] = useState(0);
  useEffect(() => {
    if (!thinking) {
      const entry = seen.get(key);
      if (entry !== undefined && entry.until === undefined) {
        seen.set(key, { ...entry, until: Date.now() });
        tick((count) => count + 1);
      }
      return;
    }
    if (!seen.has(key)) seen.set(key, { from: Date.now() });
    const timer = setInterval(() => tick((count) => count + 1), 1_000);
    return () => clearInterval(timer);
  }, [key, thinking]);
  const entry = seen.get(key);
  if (entry === undefined) return undefined;
  return thinking
    ? Date.now() - entry.from
    : entry.until === undefined
      ? undefined
      : entry.until - entry.from;
}
