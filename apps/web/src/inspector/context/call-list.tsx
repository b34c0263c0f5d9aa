import { type CacheLoss, cacheLoss, costSum, formatCost, formatMoney } from "@parley/client/usage";
import type { ProviderCallInfo } from "@parley/wire";
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Badge, type BadgeTone } from "../../ui/badge.js";
import { cx } from "../../ui/cx.js";
import { costWords } from "../figures/cost-words.js";
import { formatDuration, formatTokens, formatTokensShort, knownUsage } from "../figures/figures.js";
import { type Fact, FactList } from "../panel-section.js";
import { type CacheOutcome, cacheExplanation, cacheTitle, judgeCache } from "./cache-verdict.js";
import { CallManifest } from "./call-manifest.js";

export interface CallListProps {
  readonly conversationId: string;
  /** A turn's calls, in order. */
  readonly calls: readonly ProviderCallInfo[];
  /** The last call before them. */
  readonly callBefore?: ProviderCallInfo | undefined;
  readonly isRunning: boolean;
}

/** The calls of a turn, each of which can be opened. The last one is open at first. */
export function CallList({ conversationId, calls, callBefore, isRunning }: CallListProps) {
  if (calls.length === 0) {
    return (
      <p className="text-sm text-faint">
        {isRunning
          ? "A call is listed here when the model has answered."
          : "No call of this turn was recorded."}
      </p>
    );
  }
  const steps = [...new Set(calls.map(({ stepId }) => stepId))];
  return (
    <ol className="flex flex-col gap-2">
      {calls.map((call, index) => (
        <CallCard
          key={call.id}
          conversationId={conversationId}
          call={call}
          before={index === 0 ? callBefore : calls[index - 1]}
          stepBefore={calls.slice(0, index).findLast(({ purpose }) => purpose !== "compaction") ?? callBefore}
          stepNumber={steps.indexOf(call.stepId) + 1}
          initiallyOpen={calls.length === 1}
        />
      ))}
    </ol>
  );
}

const outcomeTones: Readonly<Record<CacheOutcome, BadgeTone>> = {
  first: "plain",
  held: "good",
  partial: "warn",
  missed: "warn",
  short: "plain",
  unreported: "plain",
  broken: "warn",
  unknown: "plain",
};

interface CallCardProps {
  readonly conversationId: string;
  readonly call: ProviderCallInfo;
  readonly before: ProviderCallInfo | undefined;
  /** The last call before it that was not a compaction's: the cache is compared with what that call read. */
  readonly stepBefore: ProviderCallInfo | undefined;
  readonly stepNumber: number;
  readonly initiallyOpen: boolean;
}

function CallCard({ conversationId, call, before, stepBefore, stepNumber, initiallyOpen }: CallCardProps) {
  const [open, setOpen] = useState(initiallyOpen);
  const { manifest, purpose, error } = call;
  const verdict = judgeCache(call);
  const title = purpose === "compaction" ? `Compaction before step ${stepNumber}` : `Step ${stepNumber}`;
  return (
    <li className="rounded-lg border border-line bg-raised">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex w-full items-center gap-2 rounded-lg px-3 py-2 text-left text-sm hover:bg-sunken/50"
      >
        <ChevronRight
          aria-hidden
          className={cx("size-4 shrink-0 text-faint transition-transform", open && "rotate-90")}
        />
        <span className="font-medium">{title}</span>
        <span className="tabular min-w-0 flex-1 truncate text-faint">
          {[
            ...(manifest === undefined
              ? []
              : [`about ${formatTokensShort(manifest.estimatedTokens)} tokens`]),
            ...(call.cost === undefined ? [] : [formatCost(costSum(call.cost))]),
          ].join(" · ")}
        </span>
        {error === undefined ? (
          <Badge tone={outcomeTones[verdict.outcome]}>{cacheTitle(verdict)}</Badge>
        ) : (
          <Badge tone="danger">Failed</Badge>
        )}
      </button>
      {open && (
        <div className="flex flex-col gap-4 border-t border-line px-3 py-3">
          {error !== undefined && (
            <p className="isolate-text text-sm text-danger">
              {error.message} <span className="text-faint">({error.code})</span>
            </p>
          )}
          <p className="text-sm text-soft">{cacheExplanation(verdict)}</p>
          {verdict.outcome === "broken" && <BreakLoss loss={cacheLoss(stepBefore, call)} />}
          {manifest !== undefined && (
            <CallManifest
              conversationId={conversationId}
              manifest={manifest}
              before={before?.manifest}
              modelBefore={before !== undefined && before.model !== call.model ? before.model : undefined}
            />
          )}
          <div className="flex flex-col gap-1.5">
            <h4 className="text-xs font-medium text-faint">The call</h4>
            <FactList facts={callFacts(call)} />
          </div>
        </div>
      )}
    </li>
  );
}

/** The cost of a broken prefix: input that the cache held before, and that was charged in full. */
function BreakLoss({ loss }: { readonly loss: CacheLoss | undefined }) {
  if (loss === undefined) return null;
  const { tokens, amount, currency = "" } = loss;
  const more = amount === undefined ? "" : `, which cost about ${formatMoney(amount, currency)} more`;
  return (
    <p className="text-sm font-medium text-warn">
      {`${formatTokens(tokens)} tokens had been in the cache and were charged in full${more}.`}
    </p>
  );
}

function callFacts(call: ProviderCallInfo): readonly Fact[] {
  const usage = knownUsage(call.usage);
  const facts: Fact[] = [
    { name: "Asked", value: `${call.model} by ${call.provider}` },
    {
      name: "Read",
      value:
        usage === undefined
          ? "unknown"
          : `${formatTokens(usage.inputTokens)} tokens${part(usage.cacheReadTokens, "from the cache")}${part(usage.cacheWriteTokens, "written to it")}`,
    },
    {
      name: "Written",
      value:
        usage === undefined
          ? "unknown"
          : `${formatTokens(usage.outputTokens)} tokens${part(usage.reasoningTokens, "reasoning")}`,
    },
    { name: "Cost", value: costWords(call.cost) },
    { name: "First token", value: formatDuration(call.ttftMs) },
    { name: "Whole answer", value: formatDuration(call.genTotalMs) },
  ];
  if (call.attempts !== undefined && call.attempts > 1) {
    facts.push({ name: "Attempts", value: formatTokens(call.attempts) });
  }
  if (call.providerRequestId !== undefined) facts.push({ name: "Request id", value: call.providerRequestId });
  return facts;
}

function part(tokens: number | undefined, words: string): string {
  return tokens === undefined ? "" : `, ${formatTokens(tokens)} ${words}`;
}
