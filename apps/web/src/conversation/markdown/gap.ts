import { type Block, sizeOfBlocks } from "./syntax/document.js";

/** The middle of a text that is not drawn: groups from one to before another. */
export interface Gap {
  readonly from: number;
  readonly to: number;
  /** How many characters it holds. */
  readonly chars: number;
}

/** More than this is not drawn when an answer is opened: its beginning and its end are, each of half of that. */
const drawnAtOnce = 120_000;

/** Finds what is left out of a text when it is opened. Its end is always drawn: conclusions stand there. */
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

/** What is left of a gap when so many more characters are drawn. */
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
