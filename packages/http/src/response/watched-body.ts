import type { BodySource } from "../request/body-source.js";
import type { AttemptWatch } from "../resilience/attempt-watch.js";

/**
 * Wraps a body in its attempt's watch: a stall, the deadline and the caller's abort end it with the error
 * that the watch created, whatever the transport throws; its end is reported to the watch.
 */
export function watchBody(
  inner: BodySource,
  watch: AttemptWatch,
  toFailure: (error: unknown) => unknown,
): BodySource {
  return {
    async consume(onChunk) {
      let thrown: { error: unknown } | undefined;
      const deliver = (chunk: Uint8Array): void | Promise<void> => {
        // A transport that notices the abort late must not deliver chunks to a reader that already has the
        // failure.
        if (watch.failure !== undefined) throw watch.failure;
        watch.stopWaiting();
        try {
          const wait = onChunk(chunk);
          if (wait === undefined) {
            watch.startWaiting();
            return;
          }
          return wait.then(
            () => watch.startWaiting(),
            (error) => {
              thrown = { error };
              throw error;
            },
          );
        } catch (error) {
          thrown = { error };
          throw error;
        }
      };
      watch.startWaiting();
      try {
        if (watch.failure !== undefined) throw watch.failure;
        await watch.guard(inner.consume(deliver));
      } catch (error) {
        if (thrown !== undefined) throw thrown.error;
        if (watch.failure !== undefined) inner.cancel(watch.failure);
        throw watch.failure ?? toFailure(error);
      } finally {
        watch.bodyEnded();
      }
    },
    cancel(reason) {
      inner.cancel(reason);
      watch.bodyEnded();
    },
  };
}
