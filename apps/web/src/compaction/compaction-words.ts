import { ParleyRequestError } from "@parley/client";
import type { CompactionPreview, CompactionResult } from "@parley/wire";
import { formatTokens } from "../inspector/figures/figures.js";
import { problemText } from "../inspector/problem-text.js";

/** The reason why a conversation cannot be compacted, and what to do about it. */
export interface CompactionProblem {
  readonly title: string;
  readonly text: string;
  /** `notice`: nothing is wrong, there is nothing to do, or not now. */
  readonly tone: "notice" | "failure";
}

/** Describes an error of a compaction, of its preview or of its undoing. */
export function compactionProblem(error: unknown, keepLastN: number): CompactionProblem {
  const code = error instanceof ParleyRequestError ? error.code : undefined;
  switch (code) {
    case "turn_active":
      return {
        title: "A turn is running",
        text: "Wait until it is done, or stop it, and compact then.",
        tone: "notice",
      };
    case "nothing_to_compact":
      return nothingOlder(keepLastN);
    case "canceled":
      return { title: "Stopped", text: "Nothing was changed.", tone: "notice" };
    case "conversation_closed":
      return {
        title: "The conversation is closed",
        text: "Open it again to compact it.",
        tone: "notice",
      };
    default:
      return { title: "It was not compacted", text: problemText(error), tone: "failure" };
  }
}

/** Describes that nothing is older than the messages to keep, or so little that a summary would gain nothing. */
export function nothingOlder(keepLastN: number): CompactionProblem {
  return {
    title: "There is nothing to compact",
    text:
      keepLastN > 0
        ? `Nothing worth a summary is older than the newest ${messageCount(keepLastN)}. Keep fewer to cover more.`
        : "The conversation is too short for a summary.",
    tone: "notice",
  };
}

/** Describes what a compaction would do that keeps this many messages. */
export function previewWords(preview: CompactionPreview, keepLastN: number): string {
  const { messagesSummarized, messagesKept, estimatedTokens } = preview;
  return `A summary will stand in for ${messageCount(messagesSummarized)}, about ${formatTokens(estimatedTokens)} tokens. ${keptWords(messagesKept, keepLastN)}`;
}

/** Describes what a compaction did that was requested to keep this many messages. */
export function resultWords(
  result: Pick<CompactionResult, "messagesSummarized" | "messagesKept">,
  keepLastN: number,
): string {
  return `A summary stands in for ${messageCount(result.messagesSummarized)}. ${keptWords(result.messagesKept, keepLastN)}`;
}

function keptWords(kept: number, keepLastN: number): string {
  if (kept === 0) return "No message stays as it is.";
  if (kept === 1) return "The newest message stays as it is.";
  const reason =
    kept > keepLastN
      ? `, more than ${formatTokens(keepLastN)}, since the calls of tools and their results are never separated`
      : "";
  return `The newest ${messageCount(kept)} stay as they are${reason}.`;
}

/** Returns a count with its noun: `1 message`, `12 messages`. */
export function messageCount(count: number): string {
  return count === 1 ? "1 message" : `${formatTokens(count)} messages`;
}
