import { omitUndefined } from "@parley/fold";
import type {
  GrantScope,
  InputActor,
  InputDecision,
  InputResponseEntry,
  InputVia,
  JsonValue,
} from "@parley/wire";
import { invalidField, ParleyError } from "../../errors.js";
import { utf8Length } from "../../messages/tokens/transcript-tokens.js";
import { checkPlain } from "../../plain-data.js";
import type { InputRecord } from "../../ports/log-store.js";
import { validateJsonSchema } from "../../turn/tools/json-schema.js";
import type { Tool } from "../../turn/tools/tool.js";
import { validateArguments } from "../../turn/tools/validate-arguments.js";

/** A response to a request for input. */
export interface InputAnswer {
  readonly decision: InputDecision;
  /** The hash of the arguments that were decided on: needed to allow a call. */
  readonly argumentsHash?: string | undefined;
  /** Other arguments for the call: a JSON text, byte for byte what will run, or a value. */
  readonly argumentsText?: string | undefined;
  readonly arguments?: JsonValue | undefined;
  /** The answer to a question, or the output of the caller's tool. */
  readonly value?: JsonValue | undefined;
  /** Set if the caller's tool failed. */
  readonly isError?: boolean | undefined;
  readonly note?: string | undefined;
  /** Extends the approval to later calls. */
  readonly scope?: GrantScope | undefined;
}

/** Sender of a response, and its channel. */
export interface InputSender {
  readonly by?: InputActor | undefined;
  /** Default `runtime`. */
  readonly via?: InputVia | undefined;
}

const decisions: Readonly<Record<string, readonly InputDecision[]>> = {
  approval: ["allow", "deny"],
  question: ["answer", "deny"],
  "tool-output": ["output", "deny"],
};

/**
 * Makes the entry of a response, or refuses it: a decision that does not fit the request, an approval of other arguments
 * than those of the call, changed arguments that the tool's schema refuses, an answer of another form.
 */
export async function responseEntry(
  request: InputRecord,
  answer: InputAnswer,
  sender: InputSender,
  limits: { readonly tools: readonly Tool<never>[]; readonly bytes: number; readonly owner: string },
): Promise<InputResponseEntry> {
  const { decision, argumentsHash, value, isError, note, scope } = answer;
  const { requestId, kind, toolCallId, toolName } = request;
  const allowed = decisions[kind] ?? ["deny"];
  if (!allowed.includes(decision)) {
    throw invalidField("decision", `a request of kind ${kind} takes ${allowed.join(" or ")}`);
  }
  if (decision === "allow" && argumentsHash !== request.argumentsHash) {
    throw invalidField("argumentsHash", "has to be the hash of the arguments that are approved");
  }
  if (scope !== undefined && decision !== "allow") throw invalidField("scope", "only an approval has one");
  const argumentsText = decision === "allow" ? changedArguments(request, answer) : undefined;
  if (argumentsText !== undefined) await checkArguments(limits.tools, toolName, argumentsText);
  const isAnswer = decision === "answer" || decision === "output";
  if (isAnswer && value === undefined) throw invalidField("value", "is missing");
  if (isAnswer) checkAnswer(request, value);
  const response: InputResponseEntry = {
    type: "input-response",
    requestId,
    toolCallId,
    toolName,
    decision,
    ...omitUndefined({ argumentsText }),
    ...(isAnswer ? omitUndefined({ value, isError }) : {}),
    by: sender.by ?? { owner: limits.owner },
    via: sender.via ?? "runtime",
    ...omitUndefined({ scope, note }),
  };
  const bytes = utf8Length(JSON.stringify(response));
  if (bytes <= limits.bytes) return response;
  throw new ParleyError("too_large", `response: ${bytes} bytes are more than the limit of ${limits.bytes}`, {
    details: { bytes, limit: limits.bytes },
  });
}

function changedArguments(request: InputRecord, answer: InputAnswer): string | undefined {
  const { arguments: value } = answer;
  if (value !== undefined) checkPlain(value, "arguments");
  const text = answer.argumentsText ?? (value === undefined ? undefined : JSON.stringify(value));
  return text === request.argumentsText ? undefined : text;
}

async function checkArguments(tools: readonly Tool<never>[], name: string, text: string): Promise<void> {
  const tool = tools.find((each) => each.name === name) ?? { name };
  const checked = await validateArguments(tool, text);
  if (!checked.ok) throw invalidField("arguments", checked.message);
}

function checkAnswer({ schema }: InputRecord, value: unknown): void {
  checkPlain(value, "value");
  const issues = schema === undefined ? [] : validateJsonSchema(schema, value);
  if (issues.length === 0) return;
  const problems = issues.map(({ path, message }) => `${path === "" ? "the answer" : path} ${message}`);
  throw invalidField("value", problems.join("; "));
}
