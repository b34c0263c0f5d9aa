import { toParleyError } from "../errors.js";
import type { ConversationRecord, LogStore } from "../log-store.js";
import type { StepContext } from "../turn/turn.js";
import { keepTokens, planCompaction, summarize, summaryMessage, toResult } from "./compaction.js";
import type { Environment } from "./environment.js";
import type { LiveTurn } from "./live-turn.js";
import type { ModelBinding } from "./models.js";
import { retryWhileUnavailable } from "./retry.js";
import { compactThreshold } from "./step-context.js";

/** The share of the threshold that the newest messages may keep as they are. */
const keptShare = 0.4;

/**
 * Before a step whose request passes the conversation's threshold, or no longer fits: sums up what is old, under
 * the turn's own lease, at most once for the step. Returns whether a summary was added. Where it would gain
 * nothing, or the model fails to write it, the turn goes on with what fits, and the reason is reported.
 */
export async function compactInTurn(request: {
  readonly env: Environment;
  readonly store: LogStore;
  readonly record: ConversationRecord;
  readonly binding: ModelBinding;
  readonly context: StepContext & { readonly truncated: boolean; readonly estimatedTokens: number };
  readonly live: LiveTurn;
  readonly stepIndex: number;
  readonly stepId: string;
  readonly signal: AbortSignal;
  /** Messages that stay, whatever they take: the turn's own input. */
  readonly always: ReadonlySet<string>;
}): Promise<boolean> {
  const { env, store, record, binding, context, live, signal } = request;
  const { conversationId } = live;
  const threshold = compactThreshold(env, record, binding);
  if (threshold <= 0 || (context.estimatedTokens <= threshold && !context.truncated)) return false;
  try {
    const keep = keepTokens(env, Math.floor(threshold * keptShare), request.always);
    const plan = await planCompaction(env, store, conversationId, keep);
    if (plan === undefined) return false;
    const summary = await summarize(env, binding, plan, signal);
    // A summary as long as what it covers would be tried again before every step.
    if (env.tokens.countText(summary, binding.name) >= plan.estimatedTokens * 0.9) return false;
    const archiveId = env.ids.next();
    await live.beforeCommit();
    const { entry } = await retryWhileUnavailable(
      env,
      () =>
        store.compact({
          conversationId,
          turnId: live.turnId,
          fence: live.epoch,
          covers: { fromSeq: plan.fromSeq, toSeq: plan.toSeq },
          archiveId,
          summary: summaryMessage({
            id: env.ids.next(),
            conversationId,
            createdAt: new Date(env.clock.now()),
            summary,
            plan,
            automatic: true,
          }),
        }),
      signal,
    );
    live.committed([entry], live.steps);
    env.watchers.tell(live.owner, {
      type: "conversation.compacted",
      conversationId,
      ...compactedCounts(toResult(plan, summary, archiveId)),
    });
    return true;
  } catch (error) {
    if (!signal.aborted) env.hooks.onError?.(toParleyError(error), { where: "compaction", conversationId });
    return false;
  }
}

/** What is told of a compaction beside its summary. */
export function compactedCounts(result: {
  readonly newConversationId: string;
  readonly messagesSummarized: number;
  readonly messagesKept: number;
}): { newConversationId: string; messagesSummarized: number; messagesKept: number } {
  const { newConversationId, messagesSummarized, messagesKept } = result;
  return { newConversationId, messagesSummarized, messagesKept };
}
