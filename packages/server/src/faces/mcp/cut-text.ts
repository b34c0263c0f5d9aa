/** Cuts a text at `most` characters, never between the two halves of one, and says in it what was left out. */
export function cutWithNote(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, Math.max(0, most)).replace(/[\uD800-\uDBFF]$/, "");
  return `${kept}\n[cut: ${text.length - kept.length} of ${text.length} characters are left out]`;
}
