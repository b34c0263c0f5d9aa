import type { Clock } from "../../clock.js";
import { ParleyError } from "../../errors.js";
import { WorkSlices } from "../../event-loop.js";
import { onAbort } from "../../messages/abort.js";
import { Channel } from "../../messages/channel.js";
import { openProviderStream, toProviderFailure } from "../../messages/provider/provider-stream.js";
import type { AnswerLimits } from "../../ports/answer-limits.js";
import type { ProviderAdapter, ProviderCallParams, ProviderStreamEvent } from "../../ports.js";
import type { Assembly, VisibleDelta } from "./assemble.js";
import { ContentWatch } from "./content-watch.js";

/** One call of a provider, and its limits. */
export interface AnswerCall {
  readonly provider: ProviderAdapter;
  readonly params: ProviderCallParams;
  readonly limits: AnswerLimits;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

/**
 * Makes a call and reads its answer into `assembly`, and passes its visible increments to `show`, which may ask to
 * wait. Rejects with the provider's own failure; with `answer_too_large` at a limit of the assembly; with `canceled`
 * when the signal aborts; with `timeout` when the provider sends no content for too long. The last three end the call
 * immediately, even if the provider does not obey: what it still sends is dropped. However many events come at once,
 * the rest of the process continues in between.
 */
export async function readAnswer(
  call: AnswerCall,
  assembly: Assembly,
  show: (visible: VisibleDelta) => Promise<void> | undefined,
): Promise<void> {
  const { provider, limits, clock, signal } = call;
  signal?.throwIfAborted();
  const abort = new AbortController();
  let events: AsyncIterator<ProviderStreamEvent> | undefined;
  let isOver = false;
  let cut: (error: ParleyError) => void = () => {};
  const wasCut = new Promise<never>((_, reject) => {
    cut = (error) => {
      reject(error);
      abort.abort();
    };
  });
  const watch = new ContentWatch(clock, limits, cut);
  const stopListening = onAbort(signal, () => cut(new ParleyError("canceled")));

  const read = async (): Promise<void> => {
    const stream = await openProviderStream(provider, { ...call.params, limits, signal: abort.signal });
    if (isOver) return;
    const iterator = stream[Symbol.asyncIterator]();
    events = iterator;
    const channel = iterator instanceof Channel ? (iterator as Channel<ProviderStreamEvent>) : undefined;
    const slices = new WorkSlices();
    while (!isOver) {
      // Events that have arrived are read synchronously; only those still to come are awaited.
      let event = channel?.takeArrived();
      if (event === undefined) {
        watch.waiting();
        let next: IteratorResult<ProviderStreamEvent>;
        try {
          next = await iterator.next();
        } catch (thrown) {
          throw toProviderFailure(thrown);
        }
        if (next.done || isOver) return;
        event = next.value;
      }
      if (event.type === "error") throw toProviderFailure(event.error);
      const visible = assembly.apply(event);
      if (visible !== undefined || isHiddenContent(event)) watch.content();
      const wait = visible === undefined ? undefined : show(visible);
      if (assembly.exceeded !== undefined) throw assembly.exceeded;
      if (wait !== undefined) {
        watch.busy();
        await wait;
      }
      const slice = slices.next();
      if (slice !== undefined) await slice;
    }
  };
  try {
    // One race for the whole stream: one for each event would cost more than the event.
    await Promise.race([read(), wasCut]);
  } catch (error) {
    abort.abort();
    throw error;
  } finally {
    isOver = true;
    watch.stop();
    stopListening();
    void events?.return?.().then(undefined, () => {});
  }
}

/**
 * Returns true if an event brings content that is not shown immediately. Counters are not content: some providers
 * send them first, and then reason without sending anything.
 */
function isHiddenContent(event: ProviderStreamEvent): boolean {
  switch (event.type) {
    case "part":
    case "tool-call":
    case "done":
      return true;
    case "tool-input-delta":
      return event.inputTextDelta !== "";
    default:
      return false;
  }
}
