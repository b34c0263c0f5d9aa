import { cacheLoss, costSum, formatCost, formatMoney } from "@parley/client/usage";
import type { ContextManifest, ContextSegment, ProviderCallInfo } from "@parley/wire";
import { duration, percent, tokens } from "../../terminal/figures.js";
import { safeLine } from "../../terminal/safe-text.js";
import type { Style } from "../../terminal/style.js";

/** Options for drawing a call. */
export interface TreeOptions {
  readonly number: number;
  /** Nothing follows on its level. */
  readonly isLast: boolean;
  readonly style: Style;
  readonly columns?: number | undefined;
}

/**
 * One call to a model as a tree: what it was shown, what was left out and what was changed on the way. Marks say how
 * it differs from the call before: `=` the same, `+` new. What stands behind the first difference was not in the
 * provider's cache.
 */
export function manifestTree(
  call: ProviderCallInfo,
  before: ProviderCallInfo | undefined,
  options: TreeOptions,
): string[] {
  const { style, isLast } = options;
  const lines = [`${isLast ? "└─" : "├─"} ${heading(call, options)}`];
  const indent = isLast ? "   " : "│  ";
  const branches =
    call.manifest === undefined
      ? [style.dim("no manifest was kept")]
      : branchesOf(call.manifest, before, call, style);
  branches.forEach((branch, index) => {
    lines.push(`${indent}${index === branches.length - 1 ? "└─" : "├─"} ${branch}`);
  });
  return lines;
}

function heading(call: ProviderCallInfo, { number, style }: TreeOptions): string {
  const { manifest, usage, error } = call;
  const size =
    manifest === undefined
      ? undefined
      : `about ${tokens(manifest.estimatedTokens)} tokens${manifest.contextWindow === undefined ? "" : ` of ${tokens(manifest.contextWindow)}`}`;
  const facts = [
    call.model,
    call.purpose === "compaction" ? "for a summary" : undefined,
    size,
    usage === undefined
      ? undefined
      : `read ${tokens(usage.inputTokens)}, wrote ${tokens(usage.outputTokens)}`,
    call.cost === undefined ? undefined : formatCost(costSum(call.cost)),
    call.ttftMs === undefined ? undefined : `first token ${duration(call.ttftMs)}`,
    call.attempts !== undefined && call.attempts > 1 ? `${call.attempts} attempts` : undefined,
  ];
  const failed = error === undefined ? "" : ` ${style.red(`✗ ${error.code}: ${safeLine(error.message)}`)}`;
  return `${style.bold(`call ${number}`)} ${style.dim(facts.filter(Boolean).join(" · "))}${failed}`;
}

function branchesOf(
  manifest: ContextManifest,
  previous: ProviderCallInfo | undefined,
  call: ProviderCallInfo,
  style: Style,
): string[] {
  const before = previous?.manifest;
  const known = new Set(before?.segments.flatMap(({ hash }) => (hash === undefined ? [] : [hash])));
  return [
    ...manifest.segments.map((segment) => segmentLine(segment, known, before !== undefined, style)),
    ...(manifest.files ?? []).map(
      ({ name, as, detail, seq }) =>
        `· file        ${range(seq, seq)}  ${safeLine(name)}: ${shownAs[as]}${detail === undefined ? "" : `, ${safeLine(detail)}`}`,
    ),
    ...manifest.dropped.map(({ firstSeq, lastSeq, reason, estimatedTokens, summarySeq }) => {
      const why =
        reason === "budget"
          ? "did not fit"
          : `a summary stands for it${summarySeq === undefined ? "" : ` (#${summarySeq})`}`;
      return style.dim(
        `${style.red("-")} left out    ${range(firstSeq, lastSeq)}  ${estimatedTokens === undefined ? "" : `${tokens(estimatedTokens)} tokens, `}${why}`,
      );
    }),
    ...manifest.transforms.map(({ kind, firstSeq, lastSeq, detail }) =>
      style.yellow(`~ ${kind}  ${range(firstSeq, lastSeq)}  ${safeLine(detail ?? "")}`.trimEnd()),
    ),
    prefixLine(manifest, call, style),
    ...lossLine(manifest, call, previous, style),
  ];
}

const shownAs = {
  image: "as an image",
  document: "as a document",
  text: "as its text",
  note: "only named",
} as const;

function segmentLine(
  segment: ContextSegment,
  known: ReadonlySet<string>,
  compared: boolean,
  style: Style,
): string {
  const { kind, role, firstSeq, lastSeq, estimatedTokens, hash } = segment;
  const isKnown = hash !== undefined && known.has(hash);
  const mark = !compared ? " " : isKnown ? style.dim("=") : style.green("+");
  const name = role === undefined ? kind : `${kind} (${role})`;
  return `${mark} ${name.padEnd(20)} ${range(firstSeq, lastSeq).padEnd(12)} ${`${tokens(estimatedTokens)} tokens`.padStart(14)}`;
}

/** Describes whether the request extends the one before, and its use of the cache. */
function prefixLine(manifest: ContextManifest, { usage }: ProviderCallInfo, style: Style): string {
  const { prefixKept, prefixKeptTokens, prefixBreak } = manifest;
  const read = usage?.cacheReadTokens;
  const cache =
    read === undefined
      ? "the provider does not say what it had in its cache"
      : `${percent(read, usage?.inputTokens ?? 0)} came from the cache`;
  if (prefixKept === undefined) return style.dim(`the first call; ${cache}`);
  if (prefixKept)
    return style.green(
      `goes on from the call before (${tokens(prefixKeptTokens)} tokens the same); ${cache}`,
    );
  const where =
    prefixBreak === undefined
      ? ""
      : ` at ${prefixBreak.at}${prefixBreak.seq === undefined ? "" : ` #${prefixBreak.seq}`}${prefixBreak.detail === undefined ? "" : `: ${safeLine(prefixBreak.detail)}`}`;
  return style.yellow(
    `differs from the call before${where} (${tokens(prefixKeptTokens)} tokens the same up to there); ${cache}`,
  );
}

/** Describes the cost of a broken prefix: tokens that the cache held before and that were charged in full. */
function lossLine(
  { prefixKept }: ContextManifest,
  call: ProviderCallInfo,
  before: ProviderCallInfo | undefined,
  style: Style,
): string[] {
  const loss = prefixKept === false ? cacheLoss(before, call) : undefined;
  if (loss === undefined) return [];
  const { amount, currency = "", tokens: lost } = loss;
  const money = amount === undefined ? "" : `, about ${formatMoney(amount, currency)} more`;
  return [style.yellow(`${tokens(lost)} tokens were in the cache before and were charged in full${money}`)];
}

function range(first: number | undefined, last: number | undefined): string {
  if (first === undefined) return "";
  return last === undefined || last === first ? `#${first}` : `#${first}–#${last}`;
}
