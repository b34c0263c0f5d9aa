import type { ParleyClient } from "../client.js";
import { transportError } from "../requests/request.js";

/** Reads the file of a message, by the seq of its chunk: its bytes as they come. */
export async function* readFile(
  client: Pick<ParleyClient, "call">,
  conversationId: string,
  seq: number,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Uint8Array, void, undefined> {
  const params = { id: conversationId, seq: String(seq) };
  const response = await client.call("GET /conversations/:id/files/:seq", { params, accept: "*/*", signal });
  if (response.body === null) return;
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (cause) {
    throw transportError(cause, signal, response.url);
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
