import { createWriteStream } from "node:fs";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { finished } from "node:stream/promises";
import type { ParleyClient } from "@parley/client";
import { CliError, usageError } from "../../cli-error.js";
import type { Io } from "../../io.js";
import { resolveConversation } from "../../resolve-id.js";
import { bytes, counted } from "../../terminal/figures.js";
import type { VerbContext } from "../../verb-context.js";

export interface ExportOptions {
  readonly all?: boolean;
  readonly format: "jsonl" | "markdown";
  readonly output?: string;
}

/** Writes conversations as text: JSONL, which can be imported again, or Markdown, for reading. */
export async function exportConversations(
  words: readonly string[],
  options: ExportOptions,
  context: VerbContext,
): Promise<void> {
  const { io } = context;
  if (options.all === true && words.length > 0)
    throw usageError("--all and names of conversations exclude each other.");
  if (options.all !== true && words.length === 0)
    throw usageError("Which conversation?", "Name it, or say --all.");
  const client = await context.client();
  const ids = options.all ? await allIds(client, context.signal) : await named(client, words);
  if (ids.length === 0) return io.note("There is no conversation to export.");
  const folder = await folderOf(options.output, ids.length);
  const extension = options.format === "jsonl" ? "jsonl" : "md";
  let size = 0;
  for (const [index, id] of ids.entries()) {
    io.progress(`Exporting ${index + 1} of ${ids.length} (${bytes(size)}) ...`);
    const pieces = client.exportConversation(id, options.format, { signal: context.signal });
    if (folder !== undefined) size += await writeFile(join(folder, `${fileName(id)}.${extension}`), pieces);
    else if (options.output !== undefined) size += await writeFile(options.output, pieces);
    else {
      const before = options.format === "markdown" && index > 0 ? "\n---\n\n" : "";
      size += await writeOut(io, pieces, options.format, before);
    }
  }
  io.endProgress();
  if (options.output !== undefined)
    io.note(`Exported ${counted(ids.length, "conversation")} to ${options.output} (${bytes(size)}).`);
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

/** Writes beside the place and moves it there when it is whole: a full disk leaves no half of an export. */
async function writeFile(path: string, pieces: AsyncIterable<string>): Promise<number> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.partial`;
  const file = createWriteStream(draft, { mode: 0o600 });
  let size = 0;
  try {
    await new Promise<void>((resolve, reject) => {
      file.once("open", () => resolve());
      file.once("error", reject);
    });
    const failed = finished(file);
    failed.catch(() => undefined);
    for await (const piece of pieces) {
      size += Buffer.byteLength(piece);
      if (!file.write(piece)) {
        await Promise.race([new Promise<void>((resolve) => file.once("drain", () => resolve())), failed]);
      }
    }
    file.end();
    await failed;
    await rename(draft, path);
    return size;
  } catch (error) {
    file.destroy();
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
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
