import { ParleyError } from "../errors.js";

/** Bounds of one answer of a model. They hold for every provider, also for titles and summaries. */
export interface AnswerLimits {
  /** UTF-8 bytes of an answer: its text, reasoning, arguments, files and metadata. `answer_too_large` */
  readonly answerBytes: number;
  /** Tool calls in one answer. `answer_too_large` */
  readonly answerCalls: number;
  /** Parts of one answer, calls included. `answer_too_large` */
  readonly answerParts: number;
  /** Maximum time until the first content of a provider's answer. `timeout` */
  readonly firstContentMs: number;
  /** Maximum time between two contents of an answer. `timeout` */
  readonly betweenContentMs: number;
}

/**
 * Default bounds of an answer. The longest answers of current models are below 1 MB of text, an image takes a few;
 * models that reason without showing it send nothing for minutes before their first content.
 */
export const defaultAnswerLimits: AnswerLimits = {
  answerBytes: 8_000_000,
  answerCalls: 256,
  answerParts: 4_096,
  firstContentMs: 10 * 60_000,
  betweenContentMs: 2 * 60_000,
};

/** Bounds on the size of an answer. */
export type AnswerSizeLimit = "answerBytes" | "answerCalls" | "answerParts";

const units: Record<AnswerSizeLimit, string> = {
  answerBytes: "bytes",
  answerCalls: "tool calls",
  answerParts: "parts",
};

/** Returns the failure of an answer that exceeded a bound: what arrived before is kept. */
export function answerTooLarge(limit: AnswerSizeLimit, allowed: number): ParleyError {
  return new ParleyError(
    "answer_too_large",
    `The model's answer was cut off at ${allowed} ${units[limit]}; limits.${limit} allows more`,
    { details: { limit, allowed } },
  );
}

/** Returns the failure of a provider that sent no content for too long. */
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
