import type { Failure } from "@parley/client";
import { CircleAlert, FoldVertical, RotateCcw } from "lucide-react";
import { showOverlay } from "../../app/layout/layout-store.js";
import { Badge } from "../../ui/badge.js";
import { Button } from "../../ui/button.js";
import { BigText } from "../../ui/text/big-text.js";
import { errorWords } from "./error-words.js";

export interface ErrorCardProps {
  readonly failure: Failure;
  readonly onRetry?: (() => void) | undefined;
}

/** Why a turn failed: what that means, what to do, whether trying again helps, and what was said exactly. */
export function ErrorCard({ failure, onRetry }: ErrorCardProps) {
  const { title, advice } = errorWords(failure.code);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div
      role="group"
      aria-label="Error"
      className="my-2 rounded-lg border border-danger/35 bg-danger-soft/60 px-4 py-3 text-sm"
    >
      <div className="flex items-start gap-3">
        <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-danger" />
        <div className="min-w-0 flex-1">
          <div className="flex flex-wrap items-center gap-2">
            <p className="font-medium">{title}</p>
            <Badge tone={failure.retryable ? "plain" : "danger"}>
              {failure.retryable ? "May succeed later" : "Will not succeed unchanged"}
            </Badge>
          </div>
          {advice !== "" && <p className="mt-0.5 text-soft">{advice}</p>}
          {failure.message !== "" && (
            <details className="mt-1.5">
              <summary className="text-xs text-soft">What was said exactly</summary>
              <BigText
                mono
                text={`${failure.code}: ${failure.message}`}
                lines={10}
                className="mt-1 text-soft"
              />
            </details>
          )}
        </div>
        {failure.code === "context_overflow" && (
          <Button size="small" onClick={() => showOverlay("compaction")}>
            <FoldVertical aria-hidden className="size-3.5" /> Compact
          </Button>
        )}
        {failure.retryable && onRetry !== undefined && (
          <Button size="small" onClick={onRetry}>
            <RotateCcw aria-hidden className="size-3.5" /> Retry
          </Button>
        )}
      </div>
    </div>
  );
}
