// Cuts a text where o200k does before it merges bytes: nothing is ever merged across these cuts.
const capital = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]";
const small = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]";
const suffix = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?";
const piece = new RegExp(
  [
    `[^\\r\\n\\p{L}\\p{N}]?${capital}*${small}+${suffix}`,
    `[^\\r\\n\\p{L}\\p{N}]?${capital}+${small}*${suffix}`,
    "\\p{N}{1,3}",
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*",
    "\\s*[\\r\\n]+",
    "\\s+(?!\\S)",
    "\\s+",
  ].join("|"),
  "gu",
);

/** Returns the pieces of a text; joined they are the text. */
export function cutText(text) {
  return text.match(piece) ?? [];
}
