import { ParleyError } from "../errors.js";

/**
 * Calls the listener once when the signal aborts, immediately if it has. Returns a function that stops listening: a
 * signal that outlives its listeners would keep them all.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined) return () => {};
  if (signal.aborted) {
    listener();
    return () => {};
  }
  signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}

/** Settles as the promise does, or rejects with `canceled` as soon as the signal aborts. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = onAbort(signal, () => reject(new ParleyError("canceled")));
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    stop();
  }
}
