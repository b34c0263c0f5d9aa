/** A formula in a text, with its delimiters. */
export interface MathSpan {
  /** The formula with its delimiters, as it was written. */
  readonly raw: string;
  readonly tex: string;
  /** Displayed on lines of its own. */
  readonly display: boolean;
  /** It has no end yet. */
  readonly open: boolean;
}

/** Longer formulas are text: no reader follows them, and the search for an end would be in vain. */
const longest = 20_000;

const delimiters = [
  { open: "$$", close: "$$", display: true },
  { open: "\\[", close: "\\]", display: true },
  { open: "\\(", close: "\\)", display: false },
  { open: "$", close: "$", display: false },
] as const;

/**
 * Reads the formula at the start of a text. `growing`: a missing end may still follow, so that the rest is read as the
 * formula if its start is unambiguous.
 */
export function mathAt(
  text: string,
  { growing, before }: { growing: boolean; before: string },
): MathSpan | undefined {
  const found = delimiters.find(({ open }) => text.startsWith(open));
  if (found === undefined) return undefined;
  const { open, close, display } = found;
  const end = findClose(text, open.length, close);
  if (open === "$") return end === undefined ? undefined : dollarMath(text, end, before);
  if (end === undefined) {
    if (!growing || text.length > longest) return undefined;
    return { raw: text, tex: text.slice(open.length), display, open: true };
  }
  const tex = text.slice(open.length, end);
  // Brackets that were escaped to prevent a link: `\[text\](address)`.
  if (tex.trim() === "" || (open === "\\[" && text.startsWith("(", end + 2))) return undefined;
  return { raw: text.slice(0, end + close.length), tex, display, open: false };
}

/** Finds the delimiter that closes a formula: not escaped, and not after an empty line. */
function findClose(text: string, from: number, close: string): number | undefined {
  const last = Math.min(text.length, from + longest);
  for (let at = from; at < last; at += 1) {
    if (text.startsWith(close, at)) return at;
    if (text[at] === "\\") at += 1;
    else if (text[at] === "\n" && /^[ \t]*\n/.test(text.slice(at + 1, at + 80))) return undefined;
  }
  return undefined;
}

/** Distinguishes a formula between single signs from amounts of money and from names of variables. */
function dollarMath(text: string, end: number, before: string): MathSpan | undefined {
  const tex = text.slice(1, end);
  const after = text[end + 1] ?? "";
  if (tex === "" || /^\s|\s$/.test(tex) || /[\p{L}\p{N}\\]/u.test(before) || /[\p{L}\p{N}]/u.test(after))
    return undefined;
  if (tex.includes("\n\n")) return undefined;
  // "$5 for one or 10$": an amount, followed by words.
  if (/^[\d.,]+\s*\p{L}*[\s,;]/u.test(tex) && /\s\p{L}{2,}/u.test(tex) && !/[\\^_={}]/.test(tex))
    return undefined;
  return { raw: text.slice(0, end + 1), tex, display: false, open: false };
}
