import { fileChunk } from "@parley/fold";
import type { FileReference, QueuedMessage, SentPart, UploadInfo } from "@parley/wire";
import type { ParleyClient } from "../client.js";
import type { MessageState } from "../state/conversation-state.js";

/** A file of a message: one of the log by its seq, or one that this client sends by its upload. */
export type FileOfMessage = FileReference | UploadInfo;

/**
 * Returns the path of a file at the server, for callers that the server knows by a cookie, or that need no key.
 * Undefined for a file that cannot be read yet: the file of a message that waits in the queue.
 */
export function fileAddress(conversationId: string, file: FileOfMessage): string | undefined {
  if ("seq" in file && file.seq !== undefined)
    return `/conversations/${encodeURIComponent(conversationId)}/files/${file.seq}`;
  return "id" in file ? `/files/${encodeURIComponent(file.id)}` : undefined;
}

/**
 * Returns an address of a file that needs no key and expires soon: for `<img>` and downloads of pages of other
 * origins.
 */
export async function signedFileUrl(
  client: Pick<ParleyClient, "request" | "url">,
  conversationId: string,
  file: FileOfMessage,
  options: { readonly forMs?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<string | undefined> {
  const { forMs, signal } = options;
  const query = { forMs };
  if ("seq" in file && file.seq !== undefined) {
    const params = { id: conversationId, seq: file.seq };
    const { path } = await client.request("GET /conversations/:id/files/:seq/address", {
      params,
      query,
      signal,
    });
    return client.url + path;
  }
  if (!("id" in file)) return undefined;
  const params = { id: file.id };
  const { path } = await client.request("GET /files/:id/address", { params, query, signal });
  return client.url + path;
}

/** Returns the files of messages as parts of another message: for an edit or a repetition, which a fork begins with. */
export function fileParts(conversationId: string, messages: readonly MessageState[]): readonly SentPart[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap(({ chunk }): readonly SentPart[] => {
      const seq = chunk.type === "text" ? chunk.file?.seq : undefined;
      return seq === undefined ? [] : [{ type: "file", conversationId, seq }];
    }),
  );
}

/** Returns the text of a message that waits, without the lines that represent its files. */
export function queuedText({ text, files = [] }: Pick<QueuedMessage, "text" | "files">): string {
  let own = text;
  for (const file of files.toReversed()) {
    const line = fileChunk(file).text;
    if (own === line) return "";
    if (own.endsWith(`\n${line}`)) own = own.slice(0, -line.length - 1);
  }
  return own;
}
