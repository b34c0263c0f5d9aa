import type { OutputInvalidEntry, OutputVerdict, TurnOutput, TurnReason } from "@parley/wire";
import type { ConversationMessage } from "../../messages/message.js";
import { outputEntryOfMessage } from "../../messages/output-entry.js";
import type { TurnOutputChoice } from "../../ports/conversation-record.js";
import { validateJsonSchema } from "../tools/json-schema.js";

/** Maximum length of one problem. */
const longestError = 300;
const mostErrors = 16;

/** Checks an answer against the schema of the data that its turn has to return. Returns its errors. */
export function outputErrors(output: TurnOutputChoice, text: string): readonly string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [bounded(text.trim() === "" ? "there is no answer" : `the answer is not valid JSON: ${reason}`)];
  }
  return validateJsonSchema(output.schema, value)
    .slice(0, mostErrors)
    .map(({ path, message }) => bounded(`${path === "" ? "the answer" : path} ${message}`));
}

function bounded(error: string): string {
  return error.length <= longestError ? error : `${error.slice(0, longestError)}…`;
}

/** Returns the text that is the answer of a turn with data: the last one of the last assistant message. */
export function answerText(messages: readonly Pick<ConversationMessage, "role" | "content">[]): string {
  const answer = messages.findLast(({ role }) => role === "assistant");
  for (const part of answer?.content.toReversed() ?? []) if (part.type === "text") return part.text;
  return "";
}

/** Makes the entry that requests another answer from the model. */
export function outputEntry(
  { name }: TurnOutputChoice,
  attempt: number,
  errors: readonly string[],
): OutputInvalidEntry {
  return { type: "output-invalid", name, attempt, errors };
}

/** Counts the answers of a turn that did not match. */
export function failedAttempts(messages: readonly ConversationMessage[]): number {
  return messages.filter((message) => outputEntryOfMessage(message) !== undefined).length;
}

/** Judges a turn that ended without an answer to check. */
export function unansweredOutput(
  reason: TurnReason,
  messages: readonly ConversationMessage[],
): OutputVerdict {
  const errors = [`the turn ended before its answer was complete: ${reason}`];
  return { valid: false, attempts: failedAttempts(messages), errors };
}

/** Returns the data of a sealed turn, from its verdict and its messages. */
export function turnOutput(
  verdict: OutputVerdict | undefined,
  messages: readonly Pick<ConversationMessage, "role" | "content">[],
): TurnOutput | undefined {
  if (verdict?.valid !== true) return verdict;
  try {
    return { ...verdict, value: JSON.parse(answerText(messages)) as unknown };
  } catch {
    return { valid: false, attempts: verdict.attempts, errors: ["the answer is no longer in the log"] };
  }
}
