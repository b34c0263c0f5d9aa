import type { JsonObject } from "../json.js";

/** Data that a turn must answer with, instead of free text. */
export interface OutputRequest {
  /** Names the data for the model: 1 to 64 of `A-Z a-z 0-9 _ -`. Absent: `answer`. */
  readonly name?: string | undefined;
  /** Describes the data to the model. */
  readonly description?: string | undefined;
  /** JSON Schema of an object. */
  readonly schema: JsonObject;
  /** Number of retries after an answer that does not match. Absent: 2. */
  readonly retries?: number | undefined;
}

/** Verdict on the answer of a turn that had to return data. */
export interface OutputVerdict {
  readonly valid: boolean;
  /** Number of answers that were checked. */
  readonly attempts: number;
  /** Errors of the last answer, one line each. Absent if it is valid. */
  readonly errors?: readonly string[];
}

/** The data that a turn returned. */
export interface TurnOutput extends OutputVerdict {
  /** Present if the answer is valid: the last text of the turn, parsed. */
  readonly value?: unknown;
}

/** Log entry: an answer did not match, and the model is called again. */
export interface OutputInvalidEntry {
  readonly type: "output-invalid";
  readonly name: string;
  /** The number of the answer, from 1. */
  readonly attempt: number;
  /** Errors of the answer, one line each. */
  readonly errors: readonly string[];
}
