import type { InputResponseEntry } from "@parley/wire";
import { textOfValue } from "../../messages/part.js";

/** Text that the model gets in place of a tool's result. Part of stored and sent history. */
export interface DecidedAnswer {
  readonly text: string;
  readonly isError: boolean;
  /** True if the turn ended before the call was run. */
  readonly interrupted?: boolean;
}

/** Returns the result of a call that was decided and does not run; undefined for one that runs. */
export function decidedAnswer(response: InputResponseEntry, kind: string): DecidedAnswer | undefined {
  if (response.decision === "allow") return undefined;
  if (response.decision === "deny") return { text: deniedText(response, kind), isError: true };
  return { text: textOfValue(response.value ?? null), isError: response.isError ?? false };
}

/** The result of an approved call that was not started before its turn ended. */
export const unstartedAnswer: DecidedAnswer = {
  text: "This call was approved, but the turn ended before it was run.",
  isError: true,
  interrupted: true,
};

/** Makes the response to an unanswered request. */
export function denial(
  request: Pick<InputResponseEntry, "requestId" | "toolCallId" | "toolName">,
  via: "expiry" | "stop" | "send" | "end",
): InputResponseEntry {
  const { requestId, toolCallId, toolName } = request;
  return { type: "input-response", requestId, toolCallId, toolName, decision: "deny", via };
}

/** Returns the result of a call that needs a decision if there is no one to ask. */
export function undecidableAnswer(kind: string): DecidedAnswer {
  const text =
    kind === "approval"
      ? "This call needs a person's approval, but no approver is available. It was not run."
      : "This call needs an answer from outside, but none can be requested here.";
  return { text, isError: true };
}

/** Returns the result of an approved call whose tool is not the one that was approved. */
export function changedToolAnswer(toolName: string): DecidedAnswer {
  const text = `The tool "${toolName}" has changed or is gone since this call was approved. It was not run.`;
  return { text, isError: true };
}

/** Prefixes the result of the call with the arguments that a person changed. */
export function withChangedArguments(text: string, argumentsText: string): string {
  return `The user changed the arguments of this call to ${argumentsText}\n\n${text}`;
}

const reasons: Readonly<Record<string, string>> = {
  expiry: "in time",
  stop: "before the turn was stopped",
  send: "before the next message",
  end: "before the turn ended",
};

function deniedText({ by, via, note }: InputResponseEntry, kind: string): string {
  const reason = by === undefined ? reasons[via] : undefined;
  const noted = note === undefined || note === "" ? "" : ` They said: ${note}`;
  if (reason === undefined) {
    return kind === "question"
      ? `The user did not want to answer.${noted}`
      : kind === "tool-output"
        ? `The caller did not run this tool.${noted}`
        : `The user denied this call. It was not run.${noted}`;
  }
  switch (kind) {
    case "question":
      return `No answer was given ${reason}.`;
    case "tool-output":
      return `The output of this tool was not given ${reason}.`;
    default:
      return `This call was not approved ${reason}. It was not run.`;
  }
}
