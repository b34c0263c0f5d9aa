import { utf8Length } from "../tokens/transcript-tokens.js";

/** Characters per piece: texts are measured in pieces, and only the last one character by character. */
const pieceLength = 4_096;

/** Returns the longest beginning of a text within a number of bytes of UTF-8, cut between characters. */
export function firstBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  let left = maxBytes;
  let end = 0;
  while (end < text.length) {
    // A pair of surrogates split between two pieces would count as more than it takes, so no piece ends inside one.
    const next = pieceEnd(text, end + pieceLength);
    const bytes = utf8Length(text.slice(end, next));
    if (bytes > left) break;
    left -= bytes;
    end = next;
  }
  while (end < text.length) {
    const code = text.codePointAt(end) ?? 0;
    left -= code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (left < 0) break;
    end += code < 0x10000 ? 1 : 2;
  }
  return text.slice(0, end);
}

function pieceEnd(text: string, end: number): number {
  if (end >= text.length) return text.length;
  return (text.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? end - 1 : end;
}
