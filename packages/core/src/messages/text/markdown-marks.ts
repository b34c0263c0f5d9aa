/** A part of a text, by its places. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** Start of a text that was cut out of a longer one: at the beginning of a line, or between two fences. */
export interface TextStart {
  readonly isLine: boolean;
  readonly isCode: boolean;
}

/** Maximum number of characters between two marks that belong together. */
const reach = 300;

/** Marks at the beginning of a line, or alone on it. */
const lineMarks: readonly RegExp[] = [
  // A fence, with the name of its language.
  /^[ \t]{0,3}(?:`{3,}|~{3,})[^\n`]{0,100}$\n?/gm,
  // A rule, and the line below the head of a table.
  /^[ \t]{0,3}(?:(?:-[ \t]*){3,30}|\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*){1,20}\|?|(?:\*[ \t]*){3,30}|(?:_[ \t]*){3,30})$\n?/gm,
  // Quotes, headings, bullets and boxes, also one after the other.
  /^[ \t]{0,12}(?:>[ \t]?|#{1,6}[ \t]+|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)+/gm,
];

const codeSpan = new RegExp(`(\`+)(?!\`)([^\\n]{1,${reach}}?)(?<!\`)\\1(?!\`)`, "g");
const link = new RegExp(
  `(!?\\[)([^\\[\\]\\n]{0,${reach}})(\\](?:\\([^()\\s]{0,${reach}}(?: "[^"\\n]{0,100}")?\\)|\\[[^\\[\\]\\n]{0,100}\\]))`,
  "g",
);
const emphasis = new RegExp(`(\\*{1,3}|_{1,3}|~~)(?=[^\\s*_~])([^\\n]{0,${reach}}?[^\\s])\\1`, "g");

const fences = /^[ \t]{0,3}(?:`{3,}|~{3,})[^\n`]*$/gm;
const inWord = /[\p{L}\p{N}\p{M}]/u;

/**
 * Removes the marks of markdown from a text: fences, headings, quotes, bullets, links, emphasis and the ticks of
 * code. Their texts stay, and so does the character at `at`, whose new place is returned. A mark between two words
 * stays as well: without it they would be one word.
 */
export function withoutMarks(
  text: string,
  at: number,
  start: TextStart = { isLine: true, isCode: false },
): { readonly text: string; readonly at: number } {
  const marks = marksOf(text, start)
    .filter(({ from, to }) => at < from || at >= to)
    .sort((left, right) => left.from - right.from || right.to - left.to);
  let kept = "";
  let end = 0;
  let place: number | undefined;
  const keep = (to: number) => {
    if (place === undefined && at < to) place = kept.length + Math.max(0, at - end);
    kept += text.slice(end, to);
    end = to;
  };
  for (const { from, to } of marks) {
    if (to <= end) continue;
    keep(Math.max(from, end));
    if (!joins(kept, text, to)) end = to;
  }
  keep(text.length);
  return { text: kept, at: place ?? kept.length };
}

/** Returns true if the kept text and what follows would become one word. */
function joins(kept: string, text: string, next: number): boolean {
  const before = [...kept.slice(-2)].at(-1) ?? "";
  const [after = ""] = text.slice(next, next + 2);
  return inWord.test(before) && inWord.test(after);
}

function marksOf(text: string, start: TextStart): Range[] {
  const marks: Range[] = [];
  /** Ranges in which marks have no meaning. */
  const code: Range[] = fencedCode(text, start);
  const isCode = (place: number) => code.some(({ from, to }) => place >= from && place < to);
  for (const [index, pattern] of lineMarks.entries()) {
    for (const match of text.matchAll(pattern)) {
      if (match.index === 0 && !start.isLine) continue;
      if (index === 0 || !isCode(match.index)) marks.push(rangeOf(match.index, match[0]));
    }
  }
  for (const { index, 0: span, 1: ticks = "" } of text.matchAll(codeSpan)) {
    if (isCode(index)) continue;
    const end = index + span.length;
    marks.push({ from: index, to: index + ticks.length }, { from: end - ticks.length, to: end });
    code.push({ from: index, to: end });
  }
  for (const { index, 0: span, 1: open = "", 3: target = "" } of text.matchAll(link)) {
    if (isCode(index)) continue;
    const end = index + span.length;
    marks.push({ from: index, to: index + open.length }, { from: end - target.length, to: end });
    code.push({ from: end - target.length, to: end });
  }
  addEmphasis(text, { from: 0, to: text.length }, marks, isCode);
  return marks;
}

/** Adds pairs of marks of emphasis, and those within them. */
function addEmphasis(text: string, within: Range, marks: Range[], isCode: (place: number) => boolean): void {
  for (const match of text.slice(within.from, within.to).matchAll(emphasis)) {
    const from = within.from + match.index;
    const to = from + match[0].length;
    const { length } = match[1] ?? "";
    if (isCode(from) || isCode(to - 1)) continue;
    // Within a word they are characters of a name, or operators.
    if (joins(text.slice(0, from), text, from + length) || joins(text.slice(0, to - length), text, to))
      continue;
    marks.push({ from, to: from + length }, { from: to - length, to });
    addEmphasis(text, { from: from + length, to: to - length }, marks, isCode);
  }
}

/** Returns true if a text ends between two fences. */
export function endsInCode(text: string): boolean {
  let isCode = false;
  for (const _ of text.matchAll(fences)) isCode = !isCode;
  return isCode;
}

/** Returns the lines between two fences, and those after one that is not closed. */
function fencedCode(text: string, { isLine, isCode }: TextStart): Range[] {
  const found: Range[] = [];
  let open: number | undefined = isCode ? 0 : undefined;
  for (const { index, 0: fence } of text.matchAll(fences)) {
    if (index === 0 && !isLine) continue;
    if (open === undefined) open = index + fence.length;
    else {
      found.push({ from: open, to: index });
      open = undefined;
    }
  }
  return open === undefined ? found : [...found, { from: open, to: text.length }];
}

function rangeOf(from: number, text: string): Range {
  return { from, to: from + text.length };
}
