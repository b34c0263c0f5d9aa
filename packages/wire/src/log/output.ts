import type { JsonObject } from "../json.js";

/** Data that a turn has to answer with, instead of free text. */
export interface OutputRequest {
  /** Names the data for the model: 1 to 64 of `A-Z a-z 0-9 _ -`. Absent: `answer`. */
  readonly name?: string | undefined;
  /** Tells the model what the data is. */
  readonly description?: string | undefined;
  /** JSON Schema of an object. */
  readonly schema: JsonObject;
  /** How often the model is asked again after an answer that does not match. Absent: 2. */
  readonly retries?: number | undefined;
}

/** How the answer of a turn that had to return data was judged. */
export interface OutputVerdict {
  readonly valid: boolean;
  /** Answers that were checked. */
  readonly attempts: number;
  /** What is wrong with the last answer, one line each. Absent where it is valid. */
  readonly errors?: readonly string[];
}

/** The data that a turn returned. */
export interface TurnOutput extends OutputVerdict {
  /** Present where the answer is valid: the last text of the turn, parsed. */
  readonly value?: unknown;
}

/** Entry of the log: an answer did not match, and the model is asked again. */
export interface OutputInvalidEntry {
  readonly type: "output-invalid";
  readonly name: string;
  /** The number of the answer, from 1. */
  readonly attempt: number;
  /** What is wrong with it, one line each. */
  readonly errors: readonly string[];
}
