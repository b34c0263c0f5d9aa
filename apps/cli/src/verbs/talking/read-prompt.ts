import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { CliError, usageError } from "../../cli-error.js";

/** The parts of a one-shot prompt. */
export interface PromptParts {
  readonly words: readonly string[];
  readonly files?: readonly string[];
  /** True where files are attached: there may be nothing to say then. */
  readonly mayBeEmpty?: boolean;
  /** Standard input, unless a terminal is at its other end. */
  readonly input: (AsyncIterable<Buffer | string> & { readonly isTTY?: boolean | undefined }) | undefined;
}

/** More than any server takes: reading on would only fill the memory. */
const mostBytes = 64 * 2 ** 20;

/** The prompt: the words, then what was piped in, then the files, each under its name. */
export async function readPrompt({
  words,
  files = [],
  mayBeEmpty = false,
  input,
}: PromptParts): Promise<string> {
  const dashes = words.filter((word) => word === "-").length;
  const spoken = words.filter((word) => word !== "-").join(" ");
  const piped = input === undefined || input.isTTY === true ? "" : await readAll(input);
  if (dashes > 0 && piped === "") {
    throw usageError('"-" stands for standard input, which is empty.', "Pipe a text in, or leave - out.");
  }
  const read: string[] = [];
  for (const file of files) read.push(await readNamed(file));
  const prompt = [spoken, piped.replace(/\s+$/, ""), ...read].filter((part) => part !== "").join("\n\n");
  if (prompt === "" && !mayBeEmpty)
    throw usageError("The prompt is empty.", 'Give one: parley run "Hello!", or pipe it in.');
  return prompt;
}

/** Reads a stream of text to its end. */
export async function readAll(input: AsyncIterable<Buffer | string>): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of input) {
    const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
    size += bytes.length;
    if (size > mostBytes) throw tooLarge("Standard input");
    pieces.push(bytes);
  }
  return asText(Buffer.concat(pieces), "Standard input");
}

async function readNamed(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size > mostBytes) throw tooLarge(file);
  const text = asText(await readFile(file), file).replace(/\s+$/, "");
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${basename(file)}:\n${fence}\n${text}\n${fence}`;
}

function tooLarge(what: string): CliError {
  return new CliError(`${what} is larger than any message may be.`, {
    advice: "Send less text, or attach it as a file with -f.",
  });
}

/** Messages are text: bytes that are none would arrive as something else. */
function asText(bytes: Buffer, what: string): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // Said below, for both.
  }
  throw new CliError(`${what} is not text in UTF-8.`, { advice: "Only text can be sent from here." });
}
