import { ParleyError } from "../../errors.js";
import type { ConversationMessage } from "../../messages/message.js";
import type { ConversationRecord, LogStore } from "../../ports/log-store.js";
import type { ProviderCallRecord } from "../../ports.js";
import type { StepContext } from "../../turn/turn.js";
import type { OpenTurn } from "../delivery/open-turn.js";
import type { Uses } from "../environment.js";
import { retryWhileUnavailable, type SignalHolder } from "../nodes/retry.js";
import type { OwnerModel } from "../owner-models.js";
import type { SummaryUses } from "./compaction.js";
import {
  type CompactionPlan,
  keepTokens,
  noticeOf,
  planCompaction,
  summarize,
  summaryMessage,
} from "./compaction.js";

/** The parts of the environment that a compaction inside a turn uses. */
export type CompactInTurnUses = SummaryUses & Uses<"ids" | "notifyChanged" | "report">;

/** A turn that may be compacted in its middle. */
export interface CompactableTurn {
  readonly env: CompactInTurnUses;
  readonly store: LogStore;
  readonly live: OpenTurn;
  readonly binding: OwnerModel;
  /** The turn's own input: it stays, whatever its size. */
  readonly userMessages: readonly ConversationMessage[];
  /** Aborts when the turn is stopped. */
  readonly signal: AbortSignal;
  /** Aborts when the turn is taken over by another node. */
  readonly lost: SignalHolder;
}

/**
 * Compacts in the middle of a turn: before a step whose request exceeds the conversation's threshold, or no longer
 * fits, old messages are summarized under the turn's own lease, at most once for the step. If that would gain
 * nothing, or the model fails to write the summary, the turn continues with what fits; the reason is reported, and
 * nothing is tried again until the request has grown as the policy requires.
 */
export class TurnCompactor {
  readonly #turn: CompactableTurn;
  #notBelow = 0;

  constructor(turn: CompactableTurn) {
    this.#turn = turn;
  }

  /** Returns true if a summary was added, so that the context has to be built again. `onCall` gets each call. */
  async before(
    record: ConversationRecord,
    context: StepContext & { readonly truncated: boolean; readonly estimatedTokens: number },
    onCall: (call: ProviderCallRecord) => void,
  ): Promise<boolean> {
    const { env, store, live, binding, userMessages, signal } = this.#turn;
    const { contextWindow } = binding;
    const threshold = env.compaction.threshold({ contextWindow, setting: record.compactThreshold });
    const { estimatedTokens, truncated } = context;
    if (threshold <= 0 || (estimatedTokens <= threshold && !truncated)) return false;
    if (estimatedTokens < this.#notBelow) return false;
    try {
      const keep = keepTokens(env, env.compaction.kept(threshold), {
        turnId: live.turnId,
        inputIds: new Set(userMessages.map(({ id }) => id)),
      });
      const plan = await planCompaction(env, store, live.conversationId, keep);
      if (plan === undefined) {
        throw new ParleyError(
          "nothing_to_compact",
          "Nothing but the turn's own input and its last step is left to compact",
        );
      }
      live.publishProgress({ activity: "compacting", since: env.clock.now() });
      const summary = await summarize(env, binding, plan, signal, onCall);
      const summaryTokens = env.tokens.countText(summary, binding.name);
      if (!env.compaction.isWorthwhile({ summaryTokens, coveredTokens: plan.estimatedTokens })) {
        throw new ParleyError(
          "nothing_to_compact",
          "The summary is not shorter than the messages that it replaces",
        );
      }
      await this.#write(plan, summary);
      return true;
    } catch (error) {
      this.#notBelow = env.compaction.retryAbove(estimatedTokens);
      if (!signal.aborted) env.report(error, "compaction", live.conversationId);
      return false;
    } finally {
      live.publishProgress(undefined);
    }
  }

  async #write(plan: CompactionPlan, summary: string): Promise<void> {
    const { env, store, live, lost } = this.#turn;
    const { conversationId, turnId, epoch: fence } = live;
    const archiveId = env.ids.next();
    const message = summaryMessage({
      id: env.ids.next(),
      conversationId,
      createdAt: new Date(env.clock.now()),
      summary,
      plan,
      automatic: true,
    });
    const covers = { fromSeq: plan.fromSeq, toSeq: plan.toSeq };
    const notice = noticeOf(plan);
    await live.beforeCommit();
    const { entry } = await retryWhileUnavailable(
      env,
      () => store.compact({ conversationId, turnId, fence, covers, archiveId, summary: message, notice }),
      lost,
    );
    live.commit([entry], live.steps);
    env.notifyChanged(live.owner, [live.log]);
  }
}
