import type { Token } from "marked";
import { decodeEntities } from "./syntax/entities.js";

/** Returns the text of tokens, without marks. */
export function textOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      if ("tokens" in token && token.tokens !== undefined && token.type !== "image")
        return textOf(token.tokens);
      if (token.type === "br" || (token.type === "html" && /^<br\s*\/?>$/i.test(token.raw))) return "\n";
      if (token.type === "text") return decodeEntities(String(token.text));
      if (token.type === "codespan" || token.type === "escape" || token.type === "image")
        return String(token.text);
      return token.raw;
    })
    .join("");
}
