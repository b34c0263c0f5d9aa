import type { Failure, TurnState } from "@parley/client";
import { formatCost } from "@parley/client/usage";
import { Activity, CircleStop, RefreshCw, StepForward, TriangleAlert } from "lucide-react";
import { memo, type ReactNode } from "react";
import { useMayWrite } from "../../app/access/access.js";
import { openInspector } from "../../app/layout/layout-store.js";
import { Button } from "../../ui/button.js";
import { IconButton } from "../../ui/icon-button.js";
import { CopyButton } from "../../ui/text/copy-button.js";
import { formatDuration, formatRate, formatTokens } from "../../ui/text/format.js";
import { useConversationActions } from "../conversation-context.js";
import { joinedText, messageFiles } from "../message-text.js";
import { newMessageId } from "../own-messages.js";
import type { EndRow } from "../transcript/rows.js";
import { ErrorCard } from "./error-card.js";
import { isRetryable } from "./error-words.js";
import { RowActions } from "./row-actions.js";

/** The end of a turn: how it ended, what it cost, and the actions on its answer. */
export const TurnEnd = memo(function TurnEnd({ row }: { readonly row: EndRow }) {
  const { branch, handle } = useConversationActions();
  const { turn, opening, answer, last } = row;
  const failure = failureOf(row);
  // The model of an imported turn is not known.
  const inUse = handle.getState().meta?.effective?.model;
  const text = joinedText(answer);
  const question = joinedText(opening);
  const mayWrite = useMayWrite();
  const canBranch =
    mayWrite &&
    opening[0]?.firstSeq !== undefined &&
    (question !== "" || opening.some((message) => messageFiles(message).length > 0));
  const again = (model?: string) => void branch(opening, question, { model });
  return (
    <div className="group/row pb-2">
      {failure !== undefined && (
        <ErrorCard failure={failure} model={turn?.model ?? inUse} onRetry={canBranch ? again : undefined} />
      )}
      <EndNote reason={turn?.reason} failed={failure !== undefined}>
        {last && mayWrite && cutReasons.has(turn?.reason ?? "") && <ContinueButton />}
      </EndNote>
      {failure === undefined && turn?.reason === "stop" && isEmpty(answer) && (
        <p className="my-1.5 text-sm text-soft">The answer is empty.</p>
      )}
      <RowActions align="start" always={last}>
        {text !== "" && <CopyButton text={text} label="Copy answer" />}
        {canBranch && (
          <IconButton
            size="small"
            label="Regenerate answer"
            icon={<RefreshCw aria-hidden />}
            onClick={() => again()}
          />
        )}
        {row.turnId !== undefined && (
          <IconButton
            size="small"
            label="Inspect this turn"
            icon={<Activity aria-hidden />}
            onClick={() => openInspector(row.turnId)}
          />
        )}
        <TurnStats turn={turn} />
      </RowActions>
    </div>
  );
});

/** Reasons for which an answer is incomplete. */
const cutReasons: ReadonlySet<string> = new Set(["interrupted", "length", "max-steps"]);

/** Returns true if an answer shows nothing: no text, no file, no call. */
function isEmpty(answer: EndRow["answer"]): boolean {
  return answer.every(({ parts }) =>
    parts.every(
      ({ chunk }) => chunk.type === "thinking" || (chunk.type === "text" && chunk.text.trim() === ""),
    ),
  );
}

/** Requests the rest of an answer that was cut, with a new message. */
function ContinueButton() {
  const { handle } = useConversationActions();
  return (
    <Button size="small" onClick={() => void handle.send("Continue.", { messageId: newMessageId() })}>
      <StepForward aria-hidden className="size-3.5" /> Continue
    </Button>
  );
}

/** Tokens and times, visible on hover. Unknown values are left out. */
function TurnStats({ turn }: { readonly turn: TurnState | undefined }) {
  if (turn === undefined) return null;
  const { usage, durationMs, waitedMs = 0, model, steps, cost } = turn;
  const first = steps[0];
  const decoded = steps.reduce((sum, step) => sum + (step.decodeMs ?? 0), 0);
  const facts = [
    model,
    usage === undefined
      ? undefined
      : `${formatTokens(usage.inputTokens)} in${usage.cacheReadTokens === undefined ? "" : ` (${formatTokens(usage.cacheReadTokens)} cached)`}`,
    usage === undefined ? undefined : `${formatTokens(usage.outputTokens)} out`,
    cost === undefined ? undefined : formatCost(cost),
    first?.ttftMs === undefined ? undefined : `first token ${formatDuration(first.ttftMs)}`,
    formatRate(usage?.outputTokens, decoded > 0 ? decoded : undefined),
    durationMs === undefined ? undefined : formatDuration(durationMs - waitedMs),
    waitedMs === 0 ? undefined : `waited ${formatDuration(waitedMs)}`,
  ].filter((fact) => fact !== undefined);
  if (facts.length === 0) return null;
  return (
    <p className="tabular px-1.5 text-xs text-faint opacity-0 transition-opacity group-focus-within/row:opacity-100 group-hover/row:opacity-100 touch:hidden">
      {facts.join(" · ")}
    </p>
  );
}

const notes: Readonly<Record<string, string>> = {
  aborted: "Stopped. The text until then is kept.",
  interrupted: "Interrupted: the server failed while the model answered. The text until then is kept.",
  length: "Cut off: the answer reached the model's output limit.",
  "content-filter":
    "Ended by the provider: its rules for content do not allow the rest. Rephrase the question, or ask another model.",
  "max-steps": "Cut off: the turn reached its limit of steps.",
  "tool-calls": "Ended with a call to a tool that this server does not have.",
};

function EndNote({
  reason,
  failed,
  children,
}: {
  readonly reason: string | undefined;
  readonly failed: boolean;
  readonly children?: ReactNode;
}) {
  const note = reason === undefined || failed ? undefined : notes[reason];
  if (note === undefined) return null;
  const Icon = reason === "aborted" ? CircleStop : TriangleAlert;
  return (
    <div className="my-1.5 flex flex-wrap items-center gap-2 text-sm text-warn">
      <Icon aria-hidden className="size-4 shrink-0" />
      <p>{note}</p>
      {children}
    </div>
  );
}

/** Returns the failure of a turn: as it was reported live, or as it is in the log. */
function failureOf({ turn, answer }: EndRow): Failure | undefined {
  if (turn?.error !== undefined) return turn.error;
  for (const message of answer) {
    for (const { chunk } of message.parts) {
      if (chunk.type === "error") {
        return { code: chunk.code ?? "internal", message: chunk.message, retryable: isRetryable(chunk.code) };
      }
    }
  }
  return undefined;
}
