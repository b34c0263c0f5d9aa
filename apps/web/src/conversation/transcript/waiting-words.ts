import type { TurnProgress } from "@parley/wire";
import { formatDuration } from "../../ui/text/format.js";
import { errorWords } from "../parts/error-words.js";

/** The actor that a running turn waits for: the model, its tools, a person, or the program that brought a tool. */
export type WaitingOn = "model" | "tool" | "person" | "caller";

/** Shorter waits for the model or for a tool are usual, and are not shown. */
const shownFromMs = 3_000;

const sentences: Readonly<Record<WaitingOn, string>> = {
  model: "Waiting for the model",
  tool: "Waiting for the tool",
  person: "Waiting for you",
  caller: "Waiting for the program that brought the tool",
};

/** The reason of a wait in words, and the cause of a failed call. */
export interface WaitingWords {
  readonly text: string;
  readonly cause?: string;
  /** False: the wait is short so far, and only screen readers are given the words. */
  readonly shown: boolean;
}

/** Describes what a turn waits for, by the time that it has waited or has been in this state. */
export function waitingWords(
  on: WaitingOn,
  progress: TurnProgress | undefined,
  elapsedMs: number,
): WaitingWords {
  const seconds = Math.floor(elapsedMs / 1_000);
  const time = seconds === 0 ? "" : ` · ${seconds < 10 ? `${seconds} s` : formatDuration(elapsedMs)}`;
  if (progress?.activity === "compacting") {
    return { text: `Summarizing older messages${time}`, shown: true };
  }
  if (progress?.activity === "retrying") {
    const { retryAt = progress.since, since, code } = progress;
    const leftMs = retryAt - since - elapsedMs;
    const text = leftMs > 0 ? `Retrying in ${Math.ceil(leftMs / 1_000)} s` : `Asking the model again${time}`;
    return { text, cause: errorWords(code).title, shown: true };
  }
  const shown = on === "person" || elapsedMs >= shownFromMs;
  return { text: `${sentences[on]}${shown ? time : ""}`, shown };
}
