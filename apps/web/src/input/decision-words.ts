import type { GrantScope, InputKind, InputResponseEntry, OpenUnion } from "@parley/wire";

/** The outcome of a decision in words, and whether an actor made it. */
export interface DecisionWords {
  readonly outcome: string;
  /** The request ended without a decision; the outcome is the reason. */
  readonly isUndecided: boolean;
}

const outcomes: Readonly<Record<string, string>> = {
  allow: "Allowed",
  deny: "Denied",
  answer: "Answered",
  output: "Output handed in",
};

const ends: Readonly<Record<string, string>> = {
  expiry: "No one answered in time",
  stop: "Ended by a stop, undecided",
  send: "Ended by the next message, undecided",
  end: "Ended with the turn, undecided",
};

const refusals: Readonly<Record<string, string>> = { question: "Declined", "tool-output": "Not run" };

/** Describes a decision on a request of some kind. */
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

/** Describes the scope of a standing approval. */
export function scopeWords({ in: place, where }: GrantScope): string {
  const calls = where === undefined ? "any arguments" : "these values";
  return `with ${calls}, ${place === "owner" ? "in all your conversations" : "in this conversation"}`;
}

/** The tool by which a model asks. Other tools ask while they run. */
const askUser = "ask_user";

/** Returns true for a question of the model itself: the name of its tool tells the user nothing. */
export function isModelsQuestion(kind: OpenUnion<InputKind>, toolName: string): boolean {
  return kind === "question" && toolName === askUser;
}

/** Returns the title of a request: what is asked for, and from whom. */
export function requestTitle(kind: OpenUnion<InputKind>, toolName: string): string {
  if (isModelsQuestion(kind, toolName)) return "The assistant asks you";
  if (kind === "question") return "A tool asks you";
  if (kind === "tool-output") return "Waits for the program that brought this tool";
  return "Needs your approval";
}
