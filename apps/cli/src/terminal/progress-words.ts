import type { TurnProgress } from "@parley/wire";
import { duration } from "./figures.js";

/** Returns the reason why a turn shows nothing new at this time. */
export function progressWords({ activity, retryAt, code }: TurnProgress, now: number): string {
  if (activity === "compacting") return "Summarizing older messages";
  if (activity !== "retrying") return activity;
  const leftMs = retryAt === undefined ? 0 : retryAt - now;
  const when = leftMs > 0 ? `retrying in ${duration(Math.ceil(leftMs / 1_000) * 1_000)}` : "asking again";
  return `The model could not be asked (${code ?? "unknown cause"}); ${when}`;
}
