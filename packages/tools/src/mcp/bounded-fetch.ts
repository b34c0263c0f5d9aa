import { AsyncLocalStorage } from "node:async_hooks";

/** Ends the call that a request belongs to. */
const endCall = new AsyncLocalStorage<(error: Error) => void>();

/**
 * Runs a call whose requests can end it: the client ignores responses that break off, and would wait for its
 * timeout.
 */
export function withCallEnd<T>(end: (error: Error) => void, call: () => Promise<T>): Promise<T> {
  return endCall.run(end, call);
}

/** Thrown if a response exceeds the bound. */
class AnswerTooLarge extends Error {
  constructor(bytes: number) {
    super(`The server's answer has more than ${bytes} bytes`);
    this.name = "AnswerTooLarge";
  }
}

/**
 * Creates a `fetch` for one address: the bytes of a response are counted, and it is cut off when they exceed
 * the bound; redirects are not followed, because the headers are for this address alone.
 */
export function boundedFetch(answerBytes: number, inner: typeof fetch = fetch): typeof fetch {
  return async (input, init) => {
    const end = endCall.getStore();
    const response = await inner(input, { ...init, redirect: "manual" });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new Error("The server redirects, which is not followed; configure the address it redirects to");
    }
    if (response.body === null) return response;
    // Notifications arrive over one stream for hours: each event is bounded there, not their sum.
    const isEvents = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    const counted = response.body.pipeThrough(
      isEvents ? eventCounter(answerBytes, end) : counter(answerBytes, end),
    );
    const { status, statusText, headers } = response;
    return new Response(counted, { status, statusText, headers });
  };
}

function counter(
  most: number,
  end: ((error: Error) => void) | undefined,
): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > most) breakOff(most, end);
      controller.enqueue(chunk);
    },
  });
}

function breakOff(most: number, end: ((error: Error) => void) | undefined): never {
  const error = new AnswerTooLarge(most);
  end?.(error);
  throw error;
}

const newLine = 10;

/** Counts the bytes since the last empty line. */
function eventCounter(
  most: number,
  end: ((error: Error) => void) | undefined,
): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let isLineStart = true;
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of chunk) {
        bytes += 1;
        if (byte === newLine && isLineStart) bytes = 0;
        if (byte !== 13) isLineStart = byte === newLine;
        if (bytes > most) breakOff(most, end);
      }
      controller.enqueue(chunk);
    },
  });
}
