import type { CallInput } from "@parley/client";
import type { ToolCallChunk, ToolResultChunk } from "@parley/wire";
import { Ban, Check, ChevronRight, CircleAlert, CircleStop } from "lucide-react";
import { memo, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { focusComposer } from "../../composer/focus-composer.js";
import { DecisionLine } from "../../input/decision-line.js";
import { decisionWords } from "../../input/decision-words.js";
import { detailsOfCall } from "../../input/request-details.js";
import { focusOtherRequest, RequestPart } from "../../input/request-part.js";
import { Badge } from "../../ui/badge.js";
import { cx } from "../../ui/cx.js";
import { Spinner } from "../../ui/loading/spinner.js";
import { BigText } from "../../ui/text/big-text.js";
import { CopyButton } from "../../ui/text/copy-button.js";
import { formatDuration } from "../../ui/text/format.js";
import { useConversationActions } from "../conversation-context.js";
import { lastLine, toolInputText, toolSummary } from "./tool-summary.js";

export interface ToolCardProps {
  /** Absent when only the result is loaded. */
  readonly call: ToolCallChunk | undefined;
  readonly result: ToolResultChunk | undefined;
  /** Requests for input about the call and their decisions, in order. */
  readonly inputs?: readonly CallInput[] | undefined;
  /** Output of the tool so far. */
  readonly output: string;
  /** Start time in epoch milliseconds, as far as the log records it. */
  readonly startedAt?: number | undefined;
  /** True if its turn is running, so that a call without a result is still running. */
  readonly live: boolean;
}

/** One tool call: while it waits for a user, the request; otherwise its work and its outcome. */
export const ToolCard = memo(function ToolCard(props: ToolCardProps) {
  const { call, result, inputs, output, live } = props;
  const open =
    live && result === undefined ? inputs?.find(({ response }) => response === undefined) : undefined;
  if (open === undefined || call === undefined) return <RanCall {...props} />;
  return (
    <>
      {/* A tool that asks while it runs continues below what it has printed. */}
      {output !== "" && <RanCall {...props} />}
      <WaitingCall key={open.request.requestId} call={call} input={open} />
    </>
  );
});

function WaitingCall({ call, input }: { readonly call: ToolCallChunk; readonly input: CallInput }) {
  const { conversationId } = useConversationActions();
  return <RequestPart request={detailsOfCall(conversationId, call, input)} onDecided={focusNext} />;
}

/** Moves the focus to the next request, or to the composer, after a decision by keyboard. */
function focusNext(requestId: string): void {
  if (!focusOtherRequest(document.querySelector("main"), requestId)) focusComposer();
}

/** A line with the call and its outcome; its input, output and result when it is opened. */
function RanCall({ call, result, inputs = [], output, startedAt, live }: ToolCardProps) {
  const id = useId();
  const [chosen, setChosen] = useState<boolean>();
  const running = result === undefined && live;
  const open = chosen ?? (running && output !== "");
  const name = call?.toolName ?? result?.toolName ?? "tool";
  const decision = inputs[0]?.response;
  // A tool that asks while it runs may continue without an answer.
  const denied = decision?.decision === "deny" && result?.isError === true;
  const status = running
    ? "running"
    : result === undefined
      ? "lost"
      : denied
        ? "denied"
        : result.interrupted
          ? "stopped"
          : result.isError
            ? "failed"
            : "done";
  const summary = running && output !== "" ? lastLine(output) : toolSummary(call?.input, call?.argumentsText);
  // A call that waited for a decision started with it.
  const elapsed = useElapsed(running, inputs[0]?.respondedAt ?? startedAt);
  // A call that was denied did not run.
  const duration = denied ? undefined : (result?.durationMs ?? elapsed);
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setChosen(!open)}
        className="flex w-full items-center gap-2.5 px-3 py-2 text-left text-sm hover:bg-sunken/50 touch:py-3"
      >
        <StatusIcon status={status} />
        <span className="flex min-w-0 flex-1 items-baseline gap-2.5">
          <span className="shrink-0 font-mono text-[0.8125rem] font-medium">{name}</span>
          <span dir="auto" className="isolate-text min-w-0 flex-1 truncate text-faint">
            {summary}
          </span>
        </span>
        {decision !== undefined && (
          <Badge tone={denied ? "warn" : "plain"}>
            {decisionWords(decision, inputs[0]?.request.kind).outcome}
          </Badge>
        )}
        {status === "stopped" && <Badge tone="plain">Stopped</Badge>}
        {duration !== undefined && (
          <span className="tabular shrink-0 text-xs text-faint">{formatDuration(duration)}</span>
        )}
        <ChevronRight
          aria-hidden
          className={cx("size-4 shrink-0 text-faint transition-transform", open && "rotate-90")}
        />
      </button>
      {open && (
        <div id={id} className="space-y-3 border-t border-line px-3 py-3">
          {inputs.map((input) => (
            <DecisionLine
              key={input.request.requestId}
              input={input}
              argumentsText={call?.argumentsText ?? toolInputText(call?.input)}
            />
          ))}
          {call !== undefined && (
            <Section title="Input" copy={() => call.argumentsText ?? toolInputText(call.input)}>
              <BigText mono text={toolInputText(call.input, call.argumentsText)} lines={20} />
            </Section>
          )}
          {result === undefined && output !== "" && <LiveOutput output={output} />}
          {result !== undefined && (
            <Section title={sectionTitle(result)} copy={() => result.content}>
              <BigText mono text={result.content === "" ? "(nothing)" : result.content} lines={20} />
            </Section>
          )}
          {result === undefined && !live && (
            <p className="text-sm text-soft">This call has no result: its turn ended before the tool did.</p>
          )}
        </div>
      )}
    </div>
  );
}

function sectionTitle({ isError, interrupted }: ToolResultChunk): string {
  if (interrupted) return "Stopped";
  return isError ? "Error" : "Result";
}

type CallStatus = "running" | "done" | "failed" | "denied" | "stopped" | "lost";

function StatusIcon({ status }: { readonly status: CallStatus }) {
  if (status === "running") return <Spinner label="Running: " className="text-accent" />;
  if (status === "done") {
    return (
      <span className="text-good">
        <Check aria-hidden className="size-4" />
        <span className="sr-only">{"Done: "}</span>
      </span>
    );
  }
  if (status === "denied") {
    return (
      <span className="text-warn">
        <Ban aria-hidden className="size-4" />
        <span className="sr-only">{"Denied: "}</span>
      </span>
    );
  }
  if (status === "stopped") {
    return (
      <span className="text-faint">
        <CircleStop aria-hidden className="size-4" />
        <span className="sr-only">{"Stopped: "}</span>
      </span>
    );
  }
  return (
    <span className={status === "failed" ? "text-danger" : "text-faint"}>
      <CircleAlert aria-hidden className="size-4" />
      <span className="sr-only">{status === "failed" ? "Failed: " : "No result: "}</span>
    </span>
  );
}

function Section({
  title,
  copy,
  children,
}: {
  readonly title: string;
  readonly copy: () => string;
  readonly children: ReactNode;
}) {
  return (
    <div>
      <div className="flex items-center justify-between">
        <p className="text-xs font-medium text-faint">{title}</p>
        <CopyButton text={copy} label={`Copy ${title.toLowerCase()}`} />
      </div>
      <div className="rounded-md bg-sunken/70 px-3 py-2">{children}</div>
    </div>
  );
}

/** The output of a tool, with its end in view. */
function LiveOutput({ output }: { readonly output: string }) {
  const box = useRef<HTMLPreElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows what is printed
  useLayoutEffect(() => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [output]);
  return (
    <div>
      <p className="mb-1 text-xs font-medium text-faint">Output so far</p>
      <pre
        ref={box}
        dir="auto"
        className="lines-by-themselves max-h-40 overflow-hidden rounded-md bg-sunken/70 px-3 py-2 font-mono text-xs leading-relaxed whitespace-pre-wrap"
      >
        {output.slice(-8_000)}
      </pre>
    </div>
  );
}

/**
 * Returns how long the tool has been running, by the log or else as this tab sees it; undefined for the first second.
 */
function useElapsed(running: boolean, startedAt: number | undefined): number | undefined {
  const [elapsed, setElapsed] = useState<number>();
  useEffect(() => {
    if (!running) {
      setElapsed(undefined);
      return;
    }
    const from = Math.min(startedAt ?? Number.POSITIVE_INFINITY, Date.now());
    const look = () => {
      const ms = Date.now() - from;
      setElapsed(ms < 1_000 ? undefined : ms - (ms % 1_000));
    };
    look();
    const timer = setInterval(look, 1_000);
    return () => clearInterval(timer);
  }, [running, startedAt]);
  return running ? elapsed : undefined;
}
