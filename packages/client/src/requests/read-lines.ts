/**
 * Yields the lines of a byte stream, however it is cut into pieces. Leaving early, or the signal, cancels the stream.
 */
export async function* readLines(
  body: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  // The beginning of a line, in pieces: joined once, for any number of pieces.
  let pieces: string[] = [];
  for await (const text of readText(body, signal)) {
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      pieces.push(text.slice(start, end));
      const line = pieces.join("");
      yield line.endsWith("\r") ? line.slice(0, -1) : line;
      pieces = [];
      start = end + 1;
    }
    if (start < text.length) pieces.push(text.slice(start));
  }
  if (pieces.length > 0) yield pieces.join("");
}

/**
 * Yields the text of a byte stream, piece by piece; a character that was cut in two comes whole. When the signal
 * aborts, the stream is canceled and this throws the signal's reason.
 */
export async function* readText(
  body: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const cancel = () => {
    // Also rejects if the reader has failed, which needs no report.
    reader.cancel().catch(() => {});
  };
  // A body does not observe the signal by itself if `fetch` is an app in the same process.
  signal?.addEventListener("abort", cancel);
  const decoder = new TextDecoder();
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
      if (text !== "") yield text;
      if (done) return;
    }
  } finally {
    signal?.removeEventListener("abort", cancel);
    cancel();
  }
}
