import type { ContextTransformKind, DroppedRange, OpenUnion } from "@parley/wire";
import { formatTokens } from "../figures/figures.js";
import type { CompactionOutlook, GaugePartKind } from "./gauge.js";
import type { Change } from "./manifest-diff.js";

/** Names of the parts of a context. */
export const partWords: Readonly<Record<GaugePartKind, string>> = {
  instructions: "Instructions",
  tools: "Tools",
  summary: "Summary",
  messages: "Messages",
  answer: "Last answer",
  unsorted: "Not recorded",
};

/** The colors of the parts, as class names of fills and backgrounds. */
export const partColors: Readonly<Record<GaugePartKind, string>> = {
  instructions: "bg-chart-4",
  tools: "bg-chart-3",
  summary: "bg-chart-2",
  messages: "bg-chart-1",
  answer: "bg-chart-5",
  unsorted: "bg-line-strong",
};

const transforms: Readonly<Record<ContextTransformKind, string>> = {
  "result-synthesized": "A result was written for a call that had none",
  "orphan-removed": "A result without its call was left out",
  "result-clipped": "A long result of a tool was shortened",
  "reasoning-dropped": "Reasoning was left out, because another model wrote it",
  "reasoning-as-text": "Reasoning of another model was sent as text",
  "call-ids-rewritten": "The ids of tool calls were rewritten for this provider",
  "roles-merged": "Neighbouring messages of one role were joined",
  "empty-removed": "An empty message was left out",
  "file-dropped": "A file was left out, because this model cannot read it",
};

/**
 * Describes a change made to a message before it was sent to the model. A kind that is newer than this page keeps its
 * name.
 */
export function transformWords(kind: OpenUnion<ContextTransformKind>): string {
  return Object.hasOwn(transforms, kind)
    ? transforms[kind as ContextTransformKind]
    : kind.replaceAll("-", " ");
}

/** Describes why messages were left out. */
export function dropWords({ reason, summarySeq }: DroppedRange): string {
  if (reason === "budget") return "They did not fit into the window.";
  return summarySeq === undefined
    ? "A summary stands in for them."
    : `The summary at seq ${summarySeq} stands in for them.`;
}

/** Describes when the conversation is compacted. */
export function outlookWords(outlook: CompactionOutlook): string {
  if (outlook.kind === "unknown") return "When it will be compacted is not known.";
  if (outlook.kind === "manual") return "It is compacted only when you ask for it.";
  const at = formatTokens(outlook.atTokens);
  if (outlook.inTokens === undefined) return `It is compacted by itself at ${at} tokens.`;
  if (outlook.inTokens === 0) return `It is past ${at} tokens and will be compacted before the next step.`;
  return `It is compacted by itself at ${at} tokens, ${formatTokens(outlook.inTokens)} from here.`;
}

/** Describes the change of the instructions or the tools between two calls. `none`: neither call had any. */
export function changeWords(change: Change): string {
  if (change === "none") return "none";
  return change === "same" ? "unchanged" : change;
}
