/** Returns true if a text consists only of white space: the API refuses such a text. */
export function isBlank(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (!isSpace(text, at)) return false;
  return true;
}

/**
 * Returns the text without the white space at its end, which the API refuses at the end of an unfinished
 * answer.
 */
export function withoutTrailingSpace(text: string): string {
  let end = text.length;
  while (end > 0 && isSpace(text, end - 1)) end -= 1;
  return text.slice(0, end);
}

/**
 * Returns true for white space as the API defines it: including the control-character separators, which
 * JavaScript omits.
 */
function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code > 0x20 && code < 0x7f) return false;
  return (code >= 0x1c && code <= 0x1f) || code === 0x85 || /\s/.test(text.charAt(at));
}
