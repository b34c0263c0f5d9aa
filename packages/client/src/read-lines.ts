/** The lines of a byte stream, however it is cut into pieces. Leaving early cancels the stream. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  // The beginning of a line, in pieces: joined once, however many there are.
  let pieces: string[] = [];
  for await (const text of readText(body)) {
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

/** The text of a byte stream, piece by piece; a character that was cut in two comes whole. */
export async function* readText(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
      if (text !== "") yield text;
      if (done) return;
    }
  } finally {
    // Also when the reader has failed: there is nothing left to say about it.
    reader.cancel().catch(() => {});
  }
}
