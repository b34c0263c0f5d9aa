/**
 * An estimate of the tokens of a text, from one pass over its characters: words and numbers in Latin script by
 * their length, other scripts by the character. 0 for the empty text, at least 1 for any other.
 */
export function countTextTokens(text: string): number {
  if (text.length === 0) return 0;
  let tokens = 0;
  let wordLength = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const lower = code | 32;
    if (lower >= 97 && lower <= 122) {
      wordLength++;
      continue;
    }
    if (wordLength > 0) tokens += 1 + Math.max(0, wordLength - 8) / 6;
    wordLength = 0;
    tokens += otherCharacterTokens(code);
  }
  if (wordLength > 0) tokens += 1 + Math.max(0, wordLength - 8) / 6;
  return Math.max(1, Math.round(tokens));
}

function otherCharacterTokens(code: number): number {
  if (code === 32) return 0;
  if (code < 0x30) return 0.7;
  if (code < 0x3a) return 0.4;
  if (code < 0x80) return 0.7;
  if (code < 0xa00) return 0.3;
  if (code < 0x3000) return 0.5;
  if (code >= 0xac00 && code < 0xd7b0) return 0.6;
  return 0.8;
}
