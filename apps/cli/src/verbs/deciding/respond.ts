import { readFile } from "node:fs/promises";
import { inputRequests } from "@parley/client/input";
import { omitUndefined } from "@parley/fold";
import type { JsonValue, RespondRequest } from "@parley/wire";
import { type CliError, usageError } from "../../cli-error.js";
import { answerValue, optionsOf, parsed } from "../../input/answer-value.js";
import { decisionText } from "../../input/decision-text.js";
import { type FoundRequest, findRequest } from "../../input/find-request.js";
import { dataLine, escapeInvisible } from "../../terminal/data-text.js";
import type { VerbContext } from "../../verb-context.js";
import { readAll } from "../talking/read-prompt.js";
import { waitUntilIdle } from "../talking/wait-until-idle.js";

export interface ApproveOptions {
  readonly always?: "conversation" | "owner";
  readonly edit?: string;
  readonly argsFile?: string;
  readonly note?: string;
  readonly json?: boolean;
}

/** Allows a call: as it is, or with other arguments. */
export async function approve(word: string, options: ApproveOptions, context: VerbContext): Promise<void> {
  if (options.edit !== undefined && options.argsFile !== undefined)
    throw usageError("--edit and --args-file both say the arguments.", "Give one of them.");
  const text = options.argsFile === undefined ? options.edit : await readText(options.argsFile);
  if (text !== undefined && parsed(text) === undefined)
    throw usageError("The arguments are not JSON.", 'For instance: --edit \'{"task": "feed the cat"}\'');
  await respond(word, options, context, ({ kind, argumentsHash }) => {
    if (kind !== "approval") throw wrongVerb(kind);
    return {
      decision: "allow",
      argumentsHash,
      ...omitUndefined({
        argumentsText: text?.trim(),
        note: options.note,
        scope: options.always === undefined ? undefined : { in: options.always },
      }),
    };
  });
}

export interface DenyOptions {
  readonly note?: string;
  readonly json?: boolean;
}

/** Denies a call, or an answer. */
export async function deny(word: string, options: DenyOptions, context: VerbContext): Promise<void> {
  const { note } = options;
  await respond(word, options, context, () => ({ decision: "deny", ...omitUndefined({ note }) }));
}

export interface AnswerOptions extends DenyOptions {
  readonly file?: string;
  readonly error?: boolean;
}

/** Answers a question, or hands in the output of a tool that the caller runs. */
export async function answer(
  word: string,
  words: readonly string[],
  options: AnswerOptions,
  context: VerbContext,
): Promise<void> {
  if (words.length > 0 === (options.file !== undefined))
    throw usageError(
      words.length > 0 ? "The answer is given twice." : "The answer is missing.",
      'Give it after the id, or with --file: parley answer 0192f "green"',
    );
  const text = options.file === undefined ? words.join(" ") : await readText(options.file);
  const { note, error } = options;
  await respond(word, options, context, ({ kind, schema }) => {
    if (kind !== "question" && kind !== "tool-output") throw wrongVerb(kind);
    if (error && kind === "question")
      throw usageError("--error is for the output of a tool, and this is a question.", "Leave --error out.");
    const value = options.json ? jsonOf(text) : answerValue(kind === "question" ? schema : undefined, text);
    if (value === undefined) throw unfit(schema);
    return {
      decision: kind === "question" ? "answer" : "output",
      value,
      ...omitUndefined({ note, isError: error }),
    };
  });
}

function jsonOf(text: string): JsonValue {
  const value = parsed(text);
  if (value === undefined)
    throw usageError("The answer is not valid JSON.", "Correct it, or leave --json out to send text.");
  return value;
}

function unfit(schema: FoundRequest["schema"]): CliError {
  const options = optionsOf(schema)?.map((option) => dataLine(JSON.stringify(option)));
  return options === undefined
    ? usageError(
        "The question asks for JSON, and the answer is not valid JSON.",
        `Its schema: ${dataLine(JSON.stringify(schema))}`,
      )
    : usageError("The answer is not one of the question's options.", `They are ${options.join(", ")}.`);
}

function wrongVerb(kind: string): CliError {
  return kind === "approval"
    ? usageError("This call waits for approval, not for an answer.", "Use `parley approve` or `parley deny`.")
    : usageError("This waits for an answer, not for approval.", "Use `parley answer` or `parley deny`.");
}

async function respond(
  word: string,
  options: { readonly json?: boolean },
  context: VerbContext,
  responseTo: (request: FoundRequest) => RespondRequest,
): Promise<void> {
  const { io, signal } = context;
  const connected = await context.connect();
  const { client } = connected;
  const request = await findRequest(client, word);
  const receipt = await inputRequests(client.request).respond(request, responseTo(request), { signal });
  if (options.json) io.json(receipt);
  else {
    const said = `${escapeInvisible(request.toolName)}: ${decisionText(receipt.response)}`;
    io.note(receipt.repeated ? `${said}. It had been recorded before.` : said);
  }
  await waitUntilIdle(connected, request.conversationId, context);
}

async function readText(file: string): Promise<string> {
  return file === "-" ? readAll(process.stdin) : readFile(file, "utf8");
}
