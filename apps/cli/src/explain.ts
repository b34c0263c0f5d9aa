import { ParleyRequestError } from "@parley/client";
import { isParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/fold";
import type { ErrorCode } from "@parley/wire";
import { CliError, type ExitCode, exitCodes } from "./cli-error.js";
import { decisionText } from "./input/decision-text.js";

/** A failure as it is shown: what happened, what to do, and how the program ends. */
export interface Explanation {
  readonly message: string;
  readonly advice?: string;
  readonly exitCode: ExitCode;
}

/** Describes a failure to the person at the terminal. Never a stack, never a secret. */
export function explain(error: unknown): Explanation {
  if (error instanceof CliError) {
    const { message, advice, exitCode } = error;
    return { message, exitCode, ...omitUndefined({ advice }) };
  }
  if (isAbort(error)) return { message: "Interrupted.", exitCode: exitCodes.interrupted };
  if (error instanceof ParleyRequestError)
    return explainRefusal(error.code, refusalText(error), error.status === 0);
  if (isParleyError(error)) return explainRefusal(error.code, error.message, false, error.cause);
  const system = explainSystem(error);
  if (system !== undefined) return system;
  return {
    message: `Something went wrong inside parley: ${error instanceof Error ? firstLine(error.message) : String(error)}`,
    advice: "Set PARLEY_DEBUG=1 to see where. `parley doctor` looks for the usual causes.",
    exitCode: exitCodes.failure,
  };
}

/** The message; of a conflict also the decision that is in force. */
function refusalText({ message, problem }: ParleyRequestError): string {
  const decided = problem?.response;
  return decided === undefined ? message : `It was decided already: ${decisionText(decided)}`;
}

/** Advice on refusals, by their code. */
const advices: Partial<Record<ErrorCode, string>> = {
  unauthorized: "Put the key into PARLEY_API_KEY. `parley keys create` makes one, where the server runs.",
  rate_limited: "Wait for the time in the message, or a moment, and try again.",
  forbidden: "Use a key with that scope; `parley keys ls` lists the scopes of each.",
  turn_active:
    "With --queue, `run` and `send` wait for the next turn; with --steer the message joins this one; `parley stop` ends it. " +
    "If the turn waits for an approval or an answer, `parley pending` shows which.",
  queue_full: "Take something out with `parley queue rm`, or wait for the turn to end.",
  conversation_not_found: "`parley ls` lists the conversations.",
  model_unavailable: "`parley models` lists the models.",
  already_decided: "The first decision counts. `parley show` shows its result.",
  schema_newer: "Use the version of Parley that wrote this store, or a newer one.",
  draining: "The server is shutting down: try again when it is back.",
  provider_auth: "Check the API key of this credential; `parley doctor` asks each provider.",
  answer_too_large:
    "The part that arrived is kept. Ask for less at once, or raise the limit of that name in the configuration.",
  output_invalid: "Ask again, choose another model with -m, or simplify the schema.",
  quota_exceeded: "Check your account at the provider, or choose another model with -m.",
};

function explainRefusal(code: ErrorCode, message: string, unanswered: boolean, cause?: unknown): Explanation {
  const system = explainSystem(cause);
  if (system !== undefined) return system;
  const advice = unanswered
    ? "Is the server running? `parley serve` starts it; --url and PARLEY_URL say where it is."
    : advices[code];
  const exitCode = code === "canceled" ? exitCodes.interrupted : exitCodes.failure;
  return { message: sentence(message), exitCode, ...omitUndefined({ advice }) };
}

/** Failures of the system, by the code that it gives. */
function explainSystem(error: unknown): Explanation | undefined {
  const code = systemCode(error);
  if (code === undefined) return undefined;
  const path = pathOf(error);
  const where = path === undefined ? "" : ` ${path}`;
  const found: Readonly<Record<string, readonly [message: string, advice: string]>> = {
    ENOSPC: [
      `The disk is full; nothing more can be written${where === "" ? "" : ` to${where}`}.`,
      "Free disk space, or use a store elsewhere with --store. What was acknowledged is kept.",
    ],
    EDQUOT: ["Your quota on this disk is used up.", "Delete files, or use a store elsewhere with --store."],
    EROFS: [`The file system is read-only:${where}.`, "Use a store elsewhere with --store."],
    EACCES: [`Permission denied:${where}.`, "Check who owns it and who may write to it."],
    EPERM: [`Not permitted:${where}.`, "Check who owns it and who may write to it."],
    ENOENT: [`There is no such file:${where}.`, "Check the path."],
    EISDIR: [`This is a folder, not a file:${where}.`, "Name a file."],
    ENOTDIR: [`A part of this path is a file, not a folder:${where}.`, "Check the path."],
    EEXIST: [`It exists already:${where}.`, "Name another place."],
    EMFILE: ["Too many files are open.", "Raise the limit with `ulimit -n`."],
  };
  const entry = found[code];
  if (entry === undefined) return undefined;
  return { message: entry[0], advice: entry[1], exitCode: exitCodes.failure };
}

function systemCode(error: unknown): string | undefined {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" && /^E[A-Z]+$/.test(code) ? code : undefined;
}

function pathOf(error: unknown): string | undefined {
  const path: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "path") : undefined;
  return typeof path === "string" ? path : undefined;
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

const firstLine = (text: string) => text.split("\n")[0] ?? "";

/** A sentence of its own. An address at its beginning stays as it is. */
function sentence(text: string): string {
  const first = /^[a-z]+:\/\//.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?:]$/.test(first) ? first : `${first}.`;
}
