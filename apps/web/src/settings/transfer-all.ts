import type { ParleyClient } from "@parley/client";
import { conversationsIn, readLines } from "@parley/client/exported";
import { saveBlob } from "../ui/download.js";

/** Callback for the progress of a long task. */
export type OnProgress = (done: number, all: number | undefined) => void;

/** Lists the ids of all conversations, closed ones included. */
async function allConversationIds(client: ParleyClient, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  let before: string | undefined;
  do {
    const page = await client.request("GET /conversations", { query: { limit: 200, before }, signal });
    ids.push(...page.conversations.map(({ id }) => id));
    before = page.nextBefore;
  } while (before !== undefined);
  return ids;
}

/** Saves all conversations in one file, as `parley import` and this page read it. Returns how many there were. */
export async function exportAll(
  client: ParleyClient,
  options: { readonly signal: AbortSignal; readonly onProgress: OnProgress },
): Promise<number> {
  const { signal, onProgress } = options;
  const ids = await allConversationIds(client, signal);
  const parts: Blob[] = [];
  for (const [index, id] of ids.entries()) {
    onProgress(index, ids.length);
    parts.push(await exportedLines(client, id, signal));
  }
  saveExport(parts);
  return ids.length;
}

/**
 * Returns one conversation as it is exported. The browser may keep a blob on disk: all together may not fit into
 * memory.
 */
export async function exportedLines(client: ParleyClient, id: string, signal: AbortSignal): Promise<Blob> {
  const lines: string[] = [];
  for await (const line of client.exportConversation(id, "jsonl", { signal })) lines.push(line);
  return new Blob(lines);
}

/** Saves exported conversations in one file. Saves no file if there are none. */
export function saveExport(parts: readonly Blob[]): void {
  if (parts.length === 0) return;
  const day = new Date().toISOString().slice(0, 10);
  saveBlob(new Blob([...parts], { type: "application/jsonl;charset=utf-8" }), `parley-${day}.jsonl`);
}

/** The outcome of an import. */
export interface Imported {
  readonly created: number;
  readonly known: number;
  /** The reasons why the rest was refused, by the name of its file. */
  readonly refused: readonly { readonly file: string; readonly reason: string }[];
}

/** Imports the conversations of the files. A refused one does not stop the others. */
export async function importAll(
  client: ParleyClient,
  files: readonly File[],
  options: { readonly signal: AbortSignal; readonly onProgress: OnProgress },
): Promise<Imported> {
  const { signal, onProgress } = options;
  let created = 0;
  let known = 0;
  const refused: { file: string; reason: string }[] = [];
  const refuse = (file: File, error: unknown) => {
    signal.throwIfAborted();
    refused.push({ file: file.name, reason: error instanceof Error ? error.message : String(error) });
  };
  for (const file of files) {
    try {
      for await (const lines of conversationsIn(readLines(file.stream(), signal))) {
        onProgress(created + known, undefined);
        try {
          const answer = await client.importConversation(lines, { signal });
          if (answer.created) created += 1;
          else known += 1;
        } catch (error) {
          refuse(file, error);
        }
      }
    } catch (error) {
      refuse(file, error);
    }
  }
  return { created, known, refused };
}

/** Deletes all conversations. Returns how many there were. */
export async function deleteAll(
  client: ParleyClient,
  options: { readonly signal: AbortSignal; readonly onProgress: OnProgress },
): Promise<number> {
  const { signal, onProgress } = options;
  const ids = await allConversationIds(client, signal);
  for (const [index, id] of ids.entries()) {
    onProgress(index, ids.length);
    await client.request("DELETE /conversations/:id", { params: { id }, signal });
  }
  return ids.length;
}
