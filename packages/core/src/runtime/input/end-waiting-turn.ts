import { isParleyError } from "../../errors.js";
import type { AdmitInput, AdmitOutcome, LogStore, OpenTurnState } from "../../ports/log-store.js";
import { currentStep, foldLeftTurn, metricsOf, partialMessages } from "../nodes/recovery-plan.js";
import { waitedMsOf } from "./waiting-info.js";

/** Number of attempts to end a turn that is answered repeatedly in between. */
const attempts = 5;

/**
 * Admits a message that ends a turn which waits for input: its requests are denied, it is sealed as `aborted`, and
 * the message opens its own turn, all in one transaction. If no turn waits, it is admitted as usual.
 */
export async function admitOverWaiting(
  store: LogStore,
  admission: AdmitInput,
  now: Date,
): Promise<AdmitOutcome> {
  const { conversationId } = admission;
  for (let attempt = 1; ; attempt += 1) {
    const record = await store.get(conversationId);
    const isWaiting = record?.active?.waitingSince !== undefined;
    const state = isWaiting ? await store.readOpenTurn({ conversationId }) : null;
    if (state?.waitingSince === undefined) return store.admit(admission);
    try {
      return await store.admit({ ...admission, sealWaiting: sealOf(conversationId, state, now) });
    } catch (error) {
      // A request was answered in between: the turn may wait again by now.
      const isStale = isParleyError(error) && error.code === "stale_fence";
      if (!isStale || attempt === attempts) throw error;
    }
  }
}

function sealOf(
  conversationId: string,
  state: OpenTurnState,
  now: Date,
): NonNullable<AdmitInput["sealWaiting"]> {
  const { turnId, fence, elapsedMs = 0, providerCalls } = state;
  const left = foldLeftTurn(conversationId, state, []);
  return {
    turnId,
    fence,
    stepId: currentStep(left),
    messages: partialMessages(left, { now, via: "send" }),
    reason: "aborted",
    metrics: metricsOf(left, { reason: "aborted", durationMs: elapsedMs, waitedMs: waitedMsOf(state) }),
    providerCalls,
    via: "send",
  };
}
