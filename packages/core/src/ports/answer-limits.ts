import { ParleyError } from "../errors.js";

/** Bounds of one answer of a model. They hold for every provider, also for titles and summaries. */
export interface AnswerLimits {
  /** UTF-8 bytes of an answer: its text, reasoning, arguments, files and metadata. `answer_too_large` */
  readonly answerBytes: number;
  /** Tool calls in one answer. `answer_too_large` */
  readonly answerCalls: number;
  /** Parts of one answer, calls included. `answer_too_large` */
  readonly answerParts: number;
  /** How long a provider may take until the first content of its answer. `timeout` */
  readonly firstContentMs: number;
  /** How long a provider may be silent between two contents of an answer. `timeout` */
  readonly betweenContentMs: number;
}

/**
 * The bounds of an answer where none are chosen. The longest answers of today's models are below 1 MB of text, an image
 * takes a few; models that reason without showing it are silent for minutes before their first content.
 */
export const defaultAnswerLimits: AnswerLimits = {
  answerBytes: 8_000_000,
  answerCalls: 256,
  answerParts: 4_096,
  firstContentMs: 10 * 60_000,
  betweenContentMs: 2 * 60_000,
};

/** The bounds on how much an answer may hold. */
export type AnswerSizeLimit = "answerBytes" | "answerCalls" | "answerParts";

const units: Record<AnswerSizeLimit, string> = {
  answerBytes: "bytes",
  answerCalls: "tool calls",
  answerParts: "parts",
};

/** The failure of an answer that passed a bound: what arrived before is kept. */
export function answerTooLarge(limit: AnswerSizeLimit, allowed: number): ParleyError {
  return new ParleyError(
    "answer_too_large",
    `The model's answer was cut off at ${allowed} ${units[limit]}; limits.${limit} allows more`,
    { details: { limit, allowed } },
  );
}

/** The failure of a provider that sent no content for too long. */
export function contentTimeout(limit: "firstContentMs" | "betweenContentMs", ms: number): ParleyError {
  const time = ms >= 1_000 ? `${Math.round(ms / 100) / 10} s` : `${ms} ms`;
  const problem =
    limit === "firstContentMs"
      ? `The provider sent no content within ${time}`
      : `The provider stopped sending: no content for ${time}`;
  return new ParleyError("timeout", `${problem}; limits.${limit} allows more`, {
    details: { limit, allowed: ms },
  });
}
