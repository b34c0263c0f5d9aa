import { formatAmounts } from "@parley/client/usage";
import type { UsageGroup, UsageResponse, UsageSums } from "@parley/wire";
import { Coins } from "lucide-react";
import { useState } from "react";
import { costSumWords } from "../inspector/figures/cost-words.js";
import { FigureTable } from "../inspector/figures/figure-table.js";
import { formatTokens, formatTokensShort } from "../inspector/figures/figures.js";
import { ProblemNote } from "../inspector/problem-note.js";
import { ViewSwitch } from "../inspector/view-switch.js";
import { cx } from "../ui/cx.js";
import { EmptyState } from "../ui/loading/empty-state.js";
import { Skeleton } from "../ui/loading/skeleton.js";
import type { UsageChoice } from "./usage-choice.js";
import { useUsage } from "./use-usage.js";

/** Tokens and cost of the owner's calls: sums, and a table by day, model or conversation. */
export function UsageView() {
  const [choice, setChoice] = useState<UsageChoice>({ by: "day", days: 30 });
  const { usage, error, isReading, retry } = useUsage(choice);
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <ViewSwitch
          label="What the sums are shown by"
          views={[
            { value: "day", label: "Days" },
            { value: "model", label: "Models" },
            { value: "conversation", label: "Conversations" },
          ]}
          value={choice.by}
          onChange={(by) => setChoice({ ...choice, by })}
        />
        <ViewSwitch
          label="How many days are summed"
          views={[
            { value: "7", label: "7 days" },
            { value: "30", label: "30 days" },
            { value: "90", label: "90 days" },
          ]}
          value={String(choice.days) as "7" | "30" | "90"}
          onChange={(days) => setChoice({ ...choice, days: Number(days) as UsageChoice["days"] })}
        />
      </div>
      {error !== undefined && (
        <ProblemNote title="The usage could not be read." error={error} onRetry={retry} />
      )}
      {usage === undefined ? (
        error === undefined && (
          <div role="status" aria-label="Reading the usage" className="flex flex-col gap-3">
            <Skeleton className="h-12 w-full" />
            <Skeleton className="h-40 w-full" />
          </div>
        )
      ) : (
        <div aria-busy={isReading} className={cx("flex flex-col gap-4", isReading && "opacity-60")}>
          <ReadUsage usage={usage} />
        </div>
      )}
    </div>
  );
}

function ReadUsage({ usage }: { readonly usage: UsageResponse }) {
  const { groups, total, by, from, to, omitted } = usage;
  if (total.calls === 0) {
    return (
      <EmptyState icon={<Coins />} title="No calls in these days">
        Tokens and costs are summed here once a model has answered.
      </EmptyState>
    );
  }
  return (
    <>
      <Totals total={total} from={from} to={to} />
      <FigureTable
        caption={`Usage by ${by}`}
        surface="canvas"
        columns={[titles[by], "Cost", "Calls", "Read", "Cached", "Written"]}
        rows={groups.map((group) => ({
          key: group.day ?? group.model ?? group.conversationId ?? group.owner ?? "none",
          cells: [
            nameOf(group),
            <CostCell key="cost" sums={group} />,
            formatTokens(group.calls),
            formatTokensShort(group.usage.inputTokens),
            group.usage.cacheReadTokens === undefined ? "–" : formatTokensShort(group.usage.cacheReadTokens),
            formatTokensShort(group.usage.outputTokens),
          ],
        }))}
      />
      {omitted !== undefined && (
        <p className="text-xs text-faint">
          {formatTokens(omitted)} more are not listed; the sums above count them.
        </p>
      )}
      <p className="text-xs text-faint">
        Days are in UTC; a turn counts on the day on which it ended. ≈ marks sums that are estimated from
        reported tokens and prices.
      </p>
    </>
  );
}

const titles = { day: "Day", model: "Model", conversation: "Conversation", owner: "Owner" } as const;

function nameOf({ day, model, conversationId, title, owner }: UsageGroup): string {
  if (conversationId !== undefined) return title === undefined || title === "" ? conversationId : title;
  return day ?? model ?? owner ?? "Deleted, or of none";
}

function CostCell({ sums }: { readonly sums: UsageSums }) {
  const known = formatAmounts(sums.amounts);
  return (
    <span title={costSumWords(sums)} className={known === undefined ? "text-faint" : "font-medium text-ink"}>
      {known ?? "unknown"}
      {known !== undefined && sums.unknownCalls > 0 && (
        <span className="font-normal text-faint"> + {sums.unknownCalls} unknown</span>
      )}
    </span>
  );
}

function Totals({
  total,
  from,
  to,
}: {
  readonly total: UsageSums;
  readonly from: string;
  readonly to: string;
}) {
  const { unknownCalls, calls, usage } = total;
  return (
    <div className="flex flex-col gap-1">
      <p className="tabular flex flex-wrap items-baseline gap-x-2.5">
        <span className="text-xl font-semibold">{formatAmounts(total.amounts) ?? "Unknown cost"}</span>
        <span className="text-sm text-soft">
          {from} to {to}
        </span>
      </p>
      <p className="tabular text-sm text-soft">
        {formatTokens(calls)} {calls === 1 ? "call" : "calls"}, {formatTokensShort(usage.inputTokens)} tokens
        read, {formatTokensShort(usage.outputTokens)} written
        {unknownCalls > 0 && (
          <span className="text-warn">
            ; the cost of {unknownCalls === calls ? "all of them" : formatTokens(unknownCalls)} is unknown
          </span>
        )}
      </p>
    </div>
  );
}
