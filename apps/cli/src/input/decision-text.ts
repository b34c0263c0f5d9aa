import type { InputResponseEntry } from "@parley/wire";
import { dataLine } from "../terminal/data-text.js";
import { safeLine } from "../terminal/safe-text.js";

const deeds: Readonly<Record<string, string>> = {
  allow: "allowed",
  deny: "denied",
  answer: "answered",
  output: "output given",
};

const unanswered: Readonly<Record<string, string>> = {
  expiry: "not answered in time",
  stop: "not answered before the turn was stopped",
  send: "not answered before the next message",
  end: "not answered before the turn ended",
};

/** Says what was decided on a request, by whom, and what the decision covers; for a line below the call. */
export function decisionText(response: InputResponseEntry): string {
  const { decision, via, by, scope, note, argumentsText, value } = response;
  const undecided = by === undefined ? unanswered[via] : undefined;
  if (undecided !== undefined) return undecided;
  const parts = [
    `${deeds[decision] ?? safeLine(decision)}${by === undefined ? "" : ` by ${safeLine(by.label ?? by.owner)}`}`,
    scope === undefined
      ? ""
      : `, from now on in ${scope.in === "owner" ? "all conversations" : "this conversation"}`,
    argumentsText === undefined ? "" : `, with other arguments: ${dataLine(argumentsText)}`,
    decision === "answer" && value !== undefined ? `: ${dataLine(JSON.stringify(value))}` : "",
    note === undefined || note === "" ? "" : ` (${safeLine(note)})`,
  ];
  return parts.join("");
}
