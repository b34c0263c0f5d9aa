/** A part of a text: as it is written, or the code point of an invisible character. */
export type TextRun = { readonly text: string } | { readonly hidden: number };

/**
 * Characters that are invisible, or change how the text around them is displayed: control characters, marks of
 * direction, joiners and tags, line and paragraph separators, private use, halves of surrogate pairs, and fillers.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]|\u115F|\u1160|\u3164|\uFFA0|[\u{E0100}-\u{E01EF}]/u;

/** Splits a text so that nothing in it stays invisible. Line feeds and tabs are left as they are. */
export function visibleRuns(text: string): readonly TextRun[] {
  if (!unseen.test(text)) return text === "" ? [] : [{ text }];
  const runs: TextRun[] = [];
  let seen = "";
  for (const character of text) {
    if (character === "\n" || character === "\t" || !unseen.test(character)) {
      seen += character;
      continue;
    }
    if (seen !== "") runs.push({ text: seen });
    seen = "";
    runs.push({ hidden: character.codePointAt(0) ?? 0 });
  }
  if (seen !== "") runs.push({ text: seen });
  return runs;
}

const names: Readonly<Record<number, string>> = {
  0: "null",
  8: "backspace",
  13: "carriage return",
  27: "escape",
  127: "delete",
  173: "soft hyphen",
  1564: "Arabic letter mark",
  8203: "zero width space",
  8204: "zero width non-joiner",
  8205: "zero width joiner",
  8206: "left-to-right mark",
  8207: "right-to-left mark",
  8232: "line separator",
  8233: "paragraph separator",
  8234: "left-to-right embedding",
  8235: "right-to-left embedding",
  8236: "end of direction",
  8237: "left-to-right override",
  8238: "right-to-left override",
  8288: "word joiner",
  8294: "left-to-right isolate",
  8295: "right-to-left isolate",
  8296: "first strong isolate",
  8297: "end of isolate",
  65279: "byte order mark",
};

/** Returns the standard name of a code point: `U+202E`. */
export function codePointName(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Describes a code point, for a tooltip. */
export function codePointWords(code: number): string {
  return names[code] ?? (code < 0xa0 ? "control character" : "invisible character");
}
