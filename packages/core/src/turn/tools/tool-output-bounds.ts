import { firstBytes } from "../../messages/text/first-bytes.js";
import { utf8Length } from "../../messages/tokens/transcript-tokens.js";

/** Receives the output that a tool prints. */
export type Output = (data: string, stream?: "stdout" | "stderr") => void;

/** Passes on the output of one call up to `maxBytes` of UTF-8; then reports once that the rest is left out. */
export function boundOutput(
  maxBytes: number,
  pass: (data: string, stream: "stdout" | "stderr") => void,
): Output {
  let left = maxBytes;
  return (data, stream = "stdout") => {
    if (left < 0) return;
    const kept = firstBytes(data, left);
    if (kept.length === data.length) {
      left -= utf8Length(data);
      pass(data, stream);
      return;
    }
    pass(kept, stream);
    left = -1;
    pass(`\n[cut: only the first ${maxBytes} bytes of this output are shown]`, stream);
  };
}

/** Returns at most `maxBytes` of UTF-8, cut between characters, with a line that states how much is missing. */
export function boundText(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const kept = firstBytes(text, maxBytes);
  if (kept.length === text.length) return text;
  const bytes = utf8Length(text);
  return `${kept}\n[cut: ${bytes - utf8Length(kept)} of ${bytes} bytes are left out]`;
}
