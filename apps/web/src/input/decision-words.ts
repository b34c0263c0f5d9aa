import type { GrantScope, InputKind, InputResponseEntry, OpenUnion } from "@parley/wire";

/** A decision in words: the outcome, and whoever is behind it. */
export interface DecisionWords {
  readonly outcome: string;
  /** Nobody decided: why it ended. */
  readonly isUndecided: boolean;
}

const outcomes: Readonly<Record<string, string>> = {
  allow: "Allowed",
  deny: "Denied",
  answer: "Answered",
  output: "Output handed in",
};

const ends: Readonly<Record<string, string>> = {
  expiry: "Nobody answered in time",
  stop: "Ended by a stop, undecided",
  send: "Ended by the next message, undecided",
  end: "Ended with the turn, undecided",
};

const refusals: Readonly<Record<string, string>> = { question: "Declined", "tool-output": "Not run" };

/** Puts a decision on a request of some kind into words. */
export function decisionWords(
  response: InputResponseEntry,
  kind: OpenUnion<InputKind> = "approval",
): DecisionWords {
  const { by, via, decision, argumentsText, isError } = response;
  const end = by === undefined ? ends[via] : undefined;
  if (end !== undefined) return { outcome: end, isUndecided: true };
  if (decision === "deny" && Object.hasOwn(refusals, kind)) {
    return { outcome: refusals[kind] ?? decision, isUndecided: false };
  }
  const known = Object.hasOwn(outcomes, decision) ? (outcomes[decision] ?? decision) : decision;
  const changed = decision === "allow" && argumentsText !== undefined ? " with changes" : "";
  const failed = decision === "output" && isError === true ? "Failure handed in" : undefined;
  return { outcome: failed ?? `${known}${changed}`, isUndecided: false };
}

/** The reach of a standing approval, spelled out. */
export function scopeWords({ in: place, where }: GrantScope): string {
  const calls = where === undefined ? "any arguments" : "these values";
  return `with ${calls}, ${place === "owner" ? "in all your conversations" : "in this conversation"}`;
}

/** The tool by which a model asks. Others ask while they run. */
const askUser = "ask_user";

/** Returns true for a question of the model itself: its tool is no news to anybody. */
export function isModelsQuestion(kind: OpenUnion<InputKind>, toolName: string): boolean {
  return kind === "question" && toolName === askUser;
}

/** The title of a request: what is wanted of whom. */
export function requestTitle(kind: OpenUnion<InputKind>, toolName: string): string {
  if (isModelsQuestion(kind, toolName)) return "The assistant asks you";
  if (kind === "question") return "A tool asks you";
  if (kind === "tool-output") return "Waits for the program that brought this tool";
  return "Needs your approval";
}
