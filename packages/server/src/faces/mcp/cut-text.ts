/** Cuts a text at `most` characters, never inside a surrogate pair, and notes in it how much was left out. */
export function cutWithNote(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, Math.max(0, most)).replace(/[\uD800-\uDBFF]$/, "");
  return `${kept}\n[cut: ${text.length - kept.length} of ${text.length} characters are left out]`;
}
