import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ParleyClient } from "@parley/client";
import { CliError, usageError } from "../../cli-error.js";
import type { Io } from "../../io.js";
import { resolveConversation } from "../../resolve-id.js";
import { bytes, counted } from "../../terminal/figures.js";
import type { VerbContext } from "../../verb-context.js";
import { filesFolder, notingFiles, type ReferredFile, writeFiles } from "./exported-files.js";
import { writeWhole } from "./write-whole.js";

export interface ExportOptions {
  readonly all?: boolean;
  readonly format: "jsonl" | "markdown";
  readonly output?: string;
}

/**
 * Writes conversations as text: JSONL, which can be imported again, or Markdown, for reading. The files of JSONL go into a
 * folder beside it.
 */
export async function exportConversations(
  words: readonly string[],
  options: ExportOptions,
  context: VerbContext,
): Promise<void> {
  const { io } = context;
  if (options.all === true && words.length > 0)
    throw usageError("--all and names of conversations exclude each other.", "Leave one of them out.");
  if (options.all !== true && words.length === 0)
    throw usageError("No conversation is named.", "Name one, or use --all.");
  const client = await context.client();
  const ids = options.all ? await allIds(client, context.signal) : await named(client, words);
  if (ids.length === 0) return io.note("There is no conversation to export.");
  const folder = await folderOf(options.output, ids.length);
  const extension = options.format === "jsonl" ? "jsonl" : "md";
  let size = 0;
  let left = 0;
  for (const [index, id] of ids.entries()) {
    io.progress(`Exporting ${index + 1} of ${ids.length} (${bytes(size)}) ...`);
    const files = new Map<string, ReferredFile>();
    const text = client.exportConversation(id, options.format, { signal: context.signal });
    const pieces = options.format === "jsonl" ? notingFiles(text, id, files) : text;
    const path = folder === undefined ? options.output : join(folder, `${fileName(id)}.${extension}`);
    if (path !== undefined) {
      size += await writeWhole(path, pieces);
      size += await writeFiles(client, filesFolder(path), files, context.signal);
    } else {
      const before = options.format === "markdown" && index > 0 ? "\n---\n\n" : "";
      size += await writeOut(io, pieces, options.format, before);
      left += files.size;
    }
  }
  io.endProgress();
  if (options.output !== undefined)
    io.note(`Exported ${counted(ids.length, "conversation")} to ${options.output} (${bytes(size)}).`);
  if (left > 0) io.note(`${counted(left, "file")} left out: with -o, files are written beside the export.`);
}

async function named(client: ParleyClient, words: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const word of words) ids.push(await resolveConversation(client, word));
  return [...new Set(ids)];
}

/** All that are in the list, closed ones included. Archives belong to their conversation and are left out. */
async function allIds(client: ParleyClient, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  let before: string | undefined;
  do {
    const page = await client.request("GET /conversations", { query: { limit: 200, before }, signal });
    ids.push(...page.conversations.map(({ id }) => id));
    before = page.nextBefore;
  } while (before !== undefined);
  return ids;
}

/** The folder to write to: several conversations need one, and a path that is one or ends with a slash means one. */
async function folderOf(output: string | undefined, count: number): Promise<string | undefined> {
  if (output === undefined) return undefined;
  const found = await stat(output).catch(() => undefined);
  const isFolder = found?.isDirectory() ?? /[/\\]$/.test(output);
  if (!isFolder && count === 1) return undefined;
  if (found !== undefined && !found.isDirectory()) {
    throw new CliError(`${output} is a file, and ${count} conversations need a folder.`, {
      advice: "Name a folder with -o.",
    });
  }
  await mkdir(output, { recursive: true });
  return output;
}

/** Ids are plain names but for the colon, which some file systems refuse. */
function fileName(id: string): string {
  return id.replaceAll(":", "_");
}

/** Waits for a reader that is slower than the server. */
async function writeOut(
  io: Io,
  pieces: AsyncIterable<string>,
  format: ExportOptions["format"],
  before: string,
): Promise<number> {
  let size = 0;
  const kind = format === "jsonl" ? "json" : "text";
  if (before !== "") await io.pass(before, kind);
  for await (const piece of pieces) {
    size += Buffer.byteLength(piece);
    await io.pass(piece, kind);
  }
  return size;
}
