import { isParleyError } from "../../errors.js";
import { onAbort } from "../../messages/abort.js";
import type { Uses } from "../environment.js";

const firstWaitMs = 100;
const longestWaitMs = 2_000;

/** An `AbortController`, or any other object with a signal. */
export type SignalHolder = Pick<AbortController, "signal">;

/**
 * Repeats a store call for as long as the store cannot be reached. The calls are idempotent by their ids, so an
 * unknown outcome is no risk. Gives up when the signal aborts, or before a call that would begin after this time, with
 * the last error. Takes the holder of the signal, and reads it only once a call has failed: an `AbortController` makes
 * its signal, which is costly, when it is read.
 */
export async function retryWhileUnavailable<T>(
  env: Uses<"clock">,
  call: () => Promise<T>,
  stop?: SignalHolder,
  forMs = Number.POSITIVE_INFINITY,
): Promise<T> {
  const until = env.clock.monotonic() + forMs;
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(longestWaitMs, waitMs * 2)) {
    try {
      return await call();
    } catch (error) {
      const unavailable = isParleyError(error) && error.code === "store_unavailable";
      const signal = unavailable ? stop?.signal : undefined;
      if (!unavailable || signal?.aborted || env.clock.monotonic() + waitMs >= until) throw error;
      await wait(env, waitMs, signal);
      if (signal?.aborted) throw error;
    }
  }
}

/** Resolves after the time has passed, or immediately when the signal aborts. */
export function wait(env: Uses<"clock">, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const cancel = env.clock.after(ms, () => {
      stopListening();
      resolve();
    });
    const stopListening = onAbort(signal, () => {
      cancel();
      resolve();
    });
  });
}
