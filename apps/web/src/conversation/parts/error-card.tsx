import type { Failure } from "@parley/client";
import { ChevronDown, CircleAlert, FoldVertical, RotateCcw } from "lucide-react";
import { showOverlay } from "../../app/layout/layout-store.js";
import { useModels } from "../../app/models.js";
import { Badge } from "../../ui/badge.js";
import { Button } from "../../ui/button.js";
import { Menu, MenuAction } from "../../ui/overlay/menu.js";
import { BigText } from "../../ui/text/big-text.js";
import { errorWords } from "./error-words.js";

export interface ErrorCardProps {
  readonly failure: Failure;
  /** Sends the same request again, to another model if one is given. */
  readonly onRetry?: ((model?: string) => void) | undefined;
  /** The model that failed. */
  readonly model?: string | undefined;
}

/** The failure of a turn: its meaning, what to do, whether a retry helps, and the exact message. */
export function ErrorCard({ failure, onRetry, model }: ErrorCardProps) {
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
      </div>
      <div className="mt-2 flex flex-wrap justify-end gap-2 empty:hidden">
        {failure.code === "context_overflow" && (
          <Button size="small" onClick={() => showOverlay("compaction")}>
            <FoldVertical aria-hidden className="size-3.5" /> Compact
          </Button>
        )}
        {onRetry !== undefined && <OtherModels failed={model} onChoose={onRetry} />}
        {failure.retryable && onRetry !== undefined && (
          <Button size="small" onClick={() => onRetry()}>
            <RotateCcw aria-hidden className="size-3.5" /> Retry
          </Button>
        )}
      </div>
    </div>
  );
}

/** Offers the models that have not failed, to send the same request to one of them. */
function OtherModels({
  failed,
  onChoose,
}: {
  readonly failed: string | undefined;
  readonly onChoose: (model: string) => void;
}) {
  const others = useModels()?.models.filter((name) => name !== failed) ?? [];
  if (others.length === 0) return null;
  return (
    <Menu
      trigger={
        <Button size="small">
          Retry with another model <ChevronDown aria-hidden className="size-3.5" />
        </Button>
      }
    >
      {others.map((name) => (
        <MenuAction key={name} onSelect={() => onChoose(name)}>
          {name}
        </MenuAction>
      ))}
    </Menu>
  );
}
