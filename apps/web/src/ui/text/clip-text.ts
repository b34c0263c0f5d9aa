/** The part of a text that can be shown at once without blocking the page. */
export interface ClippedText {
  readonly text: string;
  /** Number of characters that were left out. 0: none. */
  readonly hidden: number;
}

export interface ClipLimits {
  readonly chars: number;
  readonly lines: number;
  /** The longest line: one endless line costs a browser far more than the same text in many lines. */
  readonly lineChars: number;
}

/** Cuts a text to the limits, at the end of a line if one is near, never inside a surrogate pair. */
export function clipText(text: string, limits: ClipLimits): ClippedText {
  let end = Math.min(text.length, limits.chars);
  let lineStart = 0;
  for (let line = 0; lineStart < end; line += 1) {
    if (line === limits.lines) {
      end = lineStart;
      break;
    }
    const newline = text.indexOf("\n", lineStart);
    const lineEnd = newline === -1 ? text.length : newline;
    if (lineEnd - lineStart > limits.lineChars) {
      end = Math.min(end, lineStart + limits.lineChars);
      break;
    }
    lineStart = lineEnd + 1;
  }
  if (end >= text.length) return { text, hidden: 0 };
  const lastLine = text.lastIndexOf("\n", end);
  if (lastLine > end - 200 && lastLine > 0) end = lastLine;
  if (isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
  return { text: text.slice(0, end), hidden: text.length - end };
}

/** Splits a text into pieces of about this size, each of which a browser can lay out by itself. */
export function splitText(text: string, size: number): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(text.length, start + size);
    if (end < text.length) {
      const newline = text.lastIndexOf("\n", end);
      if (newline > start) end = newline + 1;
      else if (isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    }
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
