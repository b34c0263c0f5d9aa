import type { ImportResponse } from "@parley/wire";
import { readLines, readText } from "./read-lines.js";
import { type Caller, readJson, transportError } from "./request.js";

/** Yields a conversation as text: for `jsonl` one line at a time with its line feed, for `markdown` as it comes. */
export async function* exportConversation(
  call: Caller,
  id: string,
  format: "jsonl" | "markdown",
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  const accept = format === "jsonl" ? "application/x-ndjson" : "text/markdown";
  const response = await call("GET /conversations/:id/export", {
    params: { id },
    query: { format },
    accept,
    signal,
  });
  if (response.body === null) return;
  try {
    if (format === "markdown") yield* readText(response.body, signal);
    else for await (const line of readLines(response.body, signal)) if (line !== "") yield `${line}\n`;
  } catch (cause) {
    throw transportError(cause, signal, response.url);
  }
}

/** Sends the lines of one export. They may come in pieces of any size, with or without their line feeds. */
export async function importConversation(
  call: Caller,
  lines: AsyncIterable<string> | Iterable<string> | string,
  options: { readonly id?: string | undefined; readonly signal?: AbortSignal | undefined },
): Promise<ImportResponse> {
  const { id, signal } = options;
  const pieces: string[] = [];
  let line = "";
  for await (const piece of typeof lines === "string" ? [lines] : lines) {
    pieces.push(piece);
    line = piece.includes("\n") ? piece.slice(piece.lastIndexOf("\n") + 1) : line + piece;
    // A line is an object, and no prefix of one is JSON: what can be parsed is complete.
    if (line.endsWith("}") && isJson(line)) {
      pieces.push("\n");
      line = "";
    }
  }
  const body = new Blob(pieces, { type: "application/x-ndjson" });
  const response = await call("POST /import", { query: { id }, body, signal });
  return (await readJson(response, signal)) as ImportResponse;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
