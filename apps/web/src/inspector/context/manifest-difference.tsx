import type { ContextManifest } from "@parley/wire";
import { formatTokenChange, formatTokens } from "../figures/figures.js";
import { type Fact, FactList } from "../panel-section.js";
import { changeWords, partWords } from "./context-words.js";
import { diffManifests, isSameContext } from "./manifest-diff.js";
import { SeqLink } from "./seq-link.js";
import type { SeqRange } from "./seq-ranges.js";

export interface ManifestDifferenceProps {
  readonly conversationId: string;
  readonly before: ContextManifest;
  readonly after: ContextManifest;
  /** The model of the previous call, if it was another. */
  readonly modelBefore?: string | undefined;
}

/** The differences of a request from the previous one. */
export function ManifestDifference({ conversationId, before, after, modelBefore }: ManifestDifferenceProps) {
  const diff = diffManifests(before, after);
  if (isSameContext(diff) && modelBefore === undefined) {
    return <p className="text-soft">None: both calls sent the same.</p>;
  }
  const links = (ranges: readonly SeqRange[]) => (
    <span className="flex flex-wrap gap-x-2">
      {ranges.map((range) => (
        <SeqLink key={range.firstSeq} conversationId={conversationId} range={range} />
      ))}
    </span>
  );
  const facts: Fact[] = [
    {
      name: "Tokens",
      value: `${formatTokens(diff.tokensBefore)} \u2192 ${formatTokens(diff.tokensAfter)} (${formatTokenChange(diff.tokensAfter - diff.tokensBefore)})`,
    },
  ];
  if (modelBefore !== undefined) facts.push({ name: "Model before", value: modelBefore });
  if (diff.added.length > 0) facts.push({ name: "Came in", value: links(diff.added) });
  if (diff.removed.length > 0) facts.push({ name: "Went out", value: links(diff.removed) });
  for (const kind of ["instructions", "tools"] as const) {
    if (diff[kind] !== "none") facts.push({ name: partWords[kind], value: changeWords(diff[kind]) });
  }
  const summary = diff.kinds.find(({ kind }) => kind === "summary");
  if (summary !== undefined && summary.before !== summary.after) {
    facts.push({ name: "Summary", value: formatTokenChange(summary.after - summary.before) });
  }
  if (diff.newTransforms.length > 0) {
    const count = diff.newTransforms.length;
    facts.push({ name: "Changes", value: `${count} more on the way, listed above` });
  }
  return <FactList facts={facts} />;
}
