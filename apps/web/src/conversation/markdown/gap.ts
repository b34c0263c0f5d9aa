import { type Block, sizeOfBlocks } from "./syntax/document.js";

/** The middle of a text that is not drawn: the groups from index `from` to before `to`. */
export interface Gap {
  readonly from: number;
  readonly to: number;
  /** Number of characters in it. */
  readonly chars: number;
}

/** Longer texts are not drawn whole when an answer is opened: only the start and the end are, half of this each. */
const drawnAtOnce = 120_000;

/** Returns the part that is left out of a text when it is opened. The end is always drawn: it holds the conclusions. */
export function gapIn(groups: readonly (readonly Block[])[]): Gap | undefined {
  const sizes = groups.map(sizeOfBlocks);
  const whole = sizes.reduce((sum, size) => sum + size, 0);
  if (whole <= drawnAtOnce) return undefined;
  let from = 0;
  for (let drawn = sizes[0] ?? 0; drawn < drawnAtOnce / 2; drawn += sizes[from] ?? 0) from += 1;
  from = Math.max(1, from);
  let to = groups.length - 1;
  for (let drawn = sizes[to] ?? 0; to > from && drawn < drawnAtOnce / 2; drawn += sizes[to] ?? 0) to -= 1;
  return gapOf(sizes, from, to);
}

/** Returns what is left of a gap when this many more characters are drawn. */
export function narrowGap(groups: readonly (readonly Block[])[], gap: Gap, chars: number): Gap | undefined {
  const sizes = groups.map(sizeOfBlocks);
  let { from } = gap;
  for (let drawn = 0; from < gap.to && drawn < chars; from += 1) drawn += sizes[from] ?? 0;
  return gapOf(sizes, from, gap.to);
}

function gapOf(sizes: readonly number[], from: number, to: number): Gap | undefined {
  const chars = sizes.slice(from, to).reduce((sum, size) => sum + size, 0);
  return from < to && chars > 0 ? { from, to, chars } : undefined;
}
