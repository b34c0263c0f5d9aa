import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { conversationsIn } from "@parley/client/exported";
import type { FileReference, ImportResponse } from "@parley/wire";
import { CliError, exitCodes, usageError } from "../../cli-error.js";
import { explain } from "../../explain.js";
import { counted } from "../../terminal/figures.js";
import { safeLine } from "../../terminal/safe-text.js";
import type { VerbContext } from "../../verb-context.js";
import { filesFolder, storingFiles } from "./exported-files.js";

export interface ImportOptions {
  readonly id?: string;
  readonly json?: boolean;
}

/** Reads exported conversations in. What cannot be kept exactly is refused, and nothing of it is kept. */
export async function importConversations(
  paths: readonly string[],
  options: ImportOptions,
  context: VerbContext,
): Promise<number> {
  const { io } = context;
  const files = await expand(paths);
  const client = await context.client();
  const done: ImportResponse[] = [];
  let failures = 0;
  for (const [index, file] of files.entries()) {
    const missing: FileReference[] = [];
    try {
      for await (const lines of conversationsIn(linesOf(file))) {
        io.progress(
          `Importing ${file === "-" ? "standard input" : file} (${index + 1} of ${files.length}) ...`,
        );
        if (options.id !== undefined && (files.length > 1 || done.length > 0)) {
          throw usageError(
            "--id names one conversation, and there are several.",
            "Import one conversation at a time, or leave --id out.",
          );
        }
        const { signal } = context;
        const given = { folder: filesFolder(file), missing, signal };
        const withFiles = file === "-" ? lines : storingFiles(client, lines, given);
        const answer = await client.importConversation(withFiles, { id: options.id, signal });
        done.push(answer);
        if (!options.json) io.line(describe(answer));
      }
    } catch (error) {
      context.signal.throwIfAborted();
      const { message, advice, exitCode } = explain(error);
      if (exitCode === exitCodes.usage) throw error;
      failures += 1;
      const absent = missing.length > 0 ? ` ${absentFiles(file, missing)}` : "";
      io.warn(io.errorStyle.red(`${file}: ${message}${absent}${advice === undefined ? "" : ` ${advice}`}`));
    }
  }
  io.endProgress();
  if (options.json) io.json(done);
  if (files.length > 1 || failures > 0) {
    const created = done.filter((answer) => answer.created).length;
    io.note(
      `${counted(created, "conversation")} imported, ${done.length - created} there already, ${counted(failures, "file")} refused.`,
    );
  }
  return failures > 0 ? exitCodes.failure : exitCodes.ok;
}

function absentFiles(file: string, missing: readonly FileReference[]): string {
  const names = missing.slice(0, 3).map(({ name, hash }) => safeLine(name ?? hash));
  return `Not in ${filesFolder(file)}: ${names.join(", ")}${missing.length > 3 ? ", ..." : ""}.`;
}

function describe({ conversation, created, messages, turns }: ImportResponse): string {
  const what = created
    ? `imported (${counted(messages, "message")}, ${counted(turns, "turn")})`
    : "was there already, just the same";
  return `${conversation.id}  ${what}  ${safeLine(conversation.title)}`;
}

/** Files as they are named, and the exports in folders. */
async function expand(paths: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const path of paths.length === 0 ? ["-"] : paths) {
    if (path === "-") {
      if (process.stdin.isTTY)
        throw usageError("No file is named.", "Name a file or a folder, or pipe an export in.");
      files.push(path);
      continue;
    }
    if (!(await stat(path)).isDirectory()) {
      files.push(path);
      continue;
    }
    const found = (await readdir(path)).filter((name) => name.endsWith(".jsonl")).sort();
    if (found.length === 0) {
      throw new CliError(`There is no .jsonl file in ${path}.`, {
        advice: "Name a folder that `parley export -o` wrote.",
      });
    }
    files.push(...found.map((name) => join(path, name)));
  }
  return files;
}

function linesOf(file: string): AsyncIterable<string> {
  if (/\.(md|markdown)$/i.test(file)) {
    throw new CliError("Markdown cannot be imported: it does not hold the whole conversation.", {
      advice: "Export with --format jsonl.",
    });
  }
  const input: Readable = file === "-" ? process.stdin : createReadStream(file, "utf8");
  return readLines(input);
}

/** Reads the lines of a stream and throws its failure: `readline` alone would end silently. */
async function* readLines(input: Readable): AsyncIterable<string> {
  let failure: unknown;
  input.once("error", (error) => {
    failure = error;
    lines.close();
  });
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) yield line;
  if (failure !== undefined) throw failure;
}
