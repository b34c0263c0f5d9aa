import type { InputEntry, InputRequestEntry, InputResponseEntry, SystemChunk } from "@parley/wire";

/** Creates the chunk of an entry about input: its data, and the same as a line for people. */
export function inputChunk(input: InputEntry): SystemChunk {
  return {
    type: "system",
    text: input.type === "input-request" ? requestText(input) : responseText(input),
    input,
  };
}

function requestText({ kind, toolName, reason }: InputRequestEntry): string {
  const because = reason === undefined || reason === "" ? "" : `: ${reason}`;
  switch (kind) {
    case "question":
      return `A question waits for an answer${because}`;
    case "tool-output":
      return `The call of ${toolName} waits for its output${because}`;
    default:
      return `The call of ${toolName} waits for approval${because}`;
  }
}

const unanswered: Readonly<Record<string, string>> = {
  expiry: "in time",
  stop: "before the turn was stopped",
  send: "before the next message",
  end: "before the turn ended",
};

function responseText(response: InputResponseEntry): string {
  const { decision, via, note, toolName } = response;
  const noted = note === undefined || note === "" ? "" : `: ${note}`;
  const reason = response.by === undefined ? unanswered[via] : undefined;
  if (reason !== undefined) return `The request for ${toolName} was not answered ${reason}${noted}`;
  return `${deeds[decision] ?? decision} ${toolName}${actorText(response)}${noted}`;
}

const deeds: Readonly<Record<string, string>> = {
  allow: "Allowed",
  deny: "Denied",
  answer: "Answered",
  output: "Gave output of",
};

function actorText({ by, argumentsText, scope }: InputResponseEntry): string {
  const changed = argumentsText === undefined ? "" : ", with changed arguments";
  const standing =
    scope === undefined ? "" : scope.in === "owner" ? ", for all conversations" : ", for this conversation";
  return `${by?.label === undefined ? "" : ` by ${by.label}`}${changed}${standing}`;
}
