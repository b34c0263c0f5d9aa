/** Bytes of an answer exceeded the bound. */
export class AnswerTooLarge extends Error {
  constructor(bytes: number) {
    super(`The server's answer has more than ${bytes} bytes`);
    this.name = "AnswerTooLarge";
  }
}

/**
 * A `fetch` for one address: answers are counted, and broken off when they exceed the bound; redirects are not followed,
 * because the headers are for this address alone.
 */
export function boundedFetch(answerBytes: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "manual" });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new Error("The server redirects, which is not followed; name the address it leads to");
    }
    if (response.body === null) return response;
    // Notifications come over one stream for hours: each event is bounded there, not their sum.
    const isEvents = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    const counted = response.body.pipeThrough(isEvents ? eventCounter(answerBytes) : counter(answerBytes));
    const { status, statusText, headers } = response;
    return new Response(counted, { status, statusText, headers });
  };
}

function counter(most: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > most) throw new AnswerTooLarge(most);
      controller.enqueue(chunk);
    },
  });
}

const newLine = 10;

/** Counts the bytes since the last empty line. */
function eventCounter(most: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let isLineStart = true;
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of chunk) {
        bytes += 1;
        if (byte === newLine && isLineStart) bytes = 0;
        if (byte !== 13) isLineStart = byte === newLine;
        if (bytes > most) throw new AnswerTooLarge(most);
      }
      controller.enqueue(chunk);
    },
  });
}
