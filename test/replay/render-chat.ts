import { chatChunk, chatChunks, pieces as cut } from "@parley/testing/openai";
import type { Answer, Piece } from "./answer.js";

/**
 * Returns the chunks of a chat completion. Call ids count from 0 in every answer, as those of many servers do, unless
 * a piece brings one.
 */
export function toChatChunks(answer: Answer): (object | string)[] {
  const { pieces, ends } = answer;
  const calls = pieces.flatMap((piece) =>
    piece.type === "call" ? [{ name: piece.name, arguments: piece.args }] : [],
  );
  const chunks = chatChunks({
    reasoning: textsOf(pieces, "think"),
    text: textsOf(pieces, "say"),
    ...(calls.length === 0 ? {} : { calls }),
    ...(ends === "length" ? { finishReason: "length" } : {}),
    ...(ends === "refused" ? { finishReason: "content_filter" } : {}),
  });
  const refusal = textsOf(pieces, "refuse");
  const refused = cut(refusal).map((piece) => chatChunk({ refusal: piece, content: null }));
  const strange = pieces.some(({ type }) => type === "unknown" || type === "search")
    ? [chatChunk({ hologram: { depth: 1.5 }, annotations: [{ type: "url_citation" }] })]
    : [];
  const [first = {}, ...rest] = renamed(chunks, pieces);
  const all = [first, ...strange, ...refused, ...rest];
  if (ends === "failed") {
    return [
      ...all.slice(0, -2),
      { error: { code: 500, message: "The model has crashed", type: "server_error" } },
    ];
  }
  return [...all, "[DONE]"];
}

function textsOf(pieces: readonly Piece[], type: "think" | "say" | "refuse"): string {
  return pieces.flatMap((piece) => (piece.type === type ? [piece.text] : [])).join("\n");
}

function renamed(chunks: object[], pieces: readonly Piece[]): object[] {
  const ids = pieces.flatMap((piece) => (piece.type === "call" ? [piece.id] : []));
  if (ids.every((id) => id === undefined)) return chunks;
  const named = JSON.stringify(chunks).replace(/"call_(\d+)"/g, (given, place: string) => {
    const id = ids[Number(place)];
    return id === undefined ? given : JSON.stringify(id);
  });
  return JSON.parse(named) as object[];
}
