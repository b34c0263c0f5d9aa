import { omitUndefined, sumCosts } from "@parley/fold";
import type { OutputVerdict, StepMetrics, TurnMetrics, TurnReason } from "@parley/wire";
import type { ParleyError } from "../errors.js";
import type { ConversationMessage, TokenUsage } from "../messages/message.js";
import type { ProviderCallRecord } from "../ports.js";
import { addUsage, wireUsage } from "./call-usage.js";
import { unansweredOutput } from "./output/output.js";
import type { TurnOutcome, TurnSetup } from "./turn.js";

/** End of a turn. */
export interface Ending {
  readonly reason: TurnReason;
  readonly error?: ParleyError;
  readonly released?: true;
  readonly waiting?: true;
  /** Verdict on the data that the turn had to return. */
  readonly output?: OutputVerdict;
  /** The model call that failed, if that ended the turn. */
  readonly failedCall?: ProviderCallRecord;
}

/** Sums the turn's figures once, for `done` and for the record alike. */
export function outcomeOf(
  setup: TurnSetup,
  ending: Ending,
  made: {
    readonly messages: readonly ConversationMessage[];
    readonly committed: number;
    readonly providerCalls: readonly ProviderCallRecord[];
    readonly steps: readonly StepMetrics[];
    readonly lastUsage: TokenUsage | undefined;
    readonly durationMs: number;
    readonly waitedMs: number;
  },
): TurnOutcome {
  const { messages, providerCalls, steps, lastUsage, durationMs, waitedMs } = made;
  const { reason } = ending;
  const usage = sumUsage(providerCalls, "step");
  const output =
    ending.output ?? (setup.output === undefined ? undefined : unansweredOutput(reason, messages));
  const contextSize =
    lastUsage === undefined ? {} : { contextSize: lastUsage.inputTokens + lastUsage.outputTokens };
  return {
    state: ending.waiting ? "waiting" : ending.released ? "released" : "finished",
    reason,
    messages,
    uncommitted: messages.slice(made.committed),
    providerCalls,
    metrics: {
      turnId: setup.turnId,
      usage: wireUsage(usage ?? { inputTokens: 0, outputTokens: 0 }),
      durationMs,
      ...(waitedMs > 0 ? { waitedMs } : {}),
      steps,
      reason,
      model: modelOf(setup),
      ...contextSize,
      ...omitUndefined({ output }),
      ...callFigures(providerCalls),
    },
    ...omitUndefined({ error: ending.error, failedCall: ending.failedCall, usage }),
    ...contextSize,
  };
}

/** Returns the model's name, as the log has it. */
export const modelOf = (setup: TurnSetup) => setup.model ?? setup.providerParams.metadata.model;

/**
 * Returns the cost of a turn's calls, and the tokens of those that are not steps. Without a known cost nothing is
 * returned for a turn that made one call for each step.
 */
export function callFigures(
  calls: readonly Pick<ProviderCallRecord, "cost" | "purpose" | "usage">[],
): Pick<TurnMetrics, "cost" | "compactionUsage"> {
  const sum = sumCosts(calls.map(({ cost }) => cost));
  const isKnown = sum.amounts.length > 0 || calls.some(({ purpose = "step" }) => purpose !== "step");
  const compacted = sumUsage(calls, "compaction");
  return omitUndefined({
    cost: isKnown ? sum : undefined,
    compactionUsage: compacted && wireUsage(compacted),
  });
}

/** Sums the usage of the steps, or of compactions: `usage` of a turn is that of its steps. */
function sumUsage(
  records: readonly Pick<ProviderCallRecord, "purpose" | "usage">[],
  of: "step" | "compaction",
): TokenUsage | undefined {
  let sum: TokenUsage | undefined;
  for (const { usage, purpose = "step" } of records) {
    if (usage === undefined || purpose !== of) continue;
    sum = sum === undefined ? { ...usage } : addUsage(sum, usage);
  }
  if (sum?.totalTokens !== undefined) sum.totalTokens = sum.inputTokens + sum.outputTokens;
  return sum;
}
