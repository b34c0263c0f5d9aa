import { called, finish, type ModelPart } from "@parley/testing/ai-sdk";
import { pieces as cut } from "@parley/testing/openai";
import { type Answer, type Piece, png, secretMark } from "./answer.js";

/** Returns the parts of an AI SDK model's stream for the n-th answer of a conversation. */
export function toModelParts(answer: Answer, n: number): ModelPart[] {
  const parts = answer.pieces.flatMap((piece, place) => render(piece, `${n}_${place}`));
  const hasCalls = answer.pieces.some(({ type }) => type === "call");
  switch (answer.ends) {
    case "failed":
      return [...parts, { type: "error", error: new Error("The model has crashed") }];
    case "length":
      return [...parts, finish("length")];
    case "refused":
      return [...parts, finish("content-filter")];
    default:
      return [...parts, finish(hasCalls ? "tool-calls" : "stop")];
  }
}

function render(piece: Piece, place: string): ModelPart[] {
  const id = `p${place}`;
  const providerMetadata = { mock: { itemId: `${secretMark}-${place}` } };
  switch (piece.type) {
    case "think":
      return [
        { type: "reasoning-start", id, providerMetadata },
        ...cut(piece.text).map((delta): ModelPart => ({ type: "reasoning-delta", id, delta })),
        { type: "reasoning-end", id, providerMetadata },
      ];
    case "say":
    case "refuse": {
      const source: ModelPart[] =
        piece.type === "say" && piece.cites !== undefined
          ? [{ type: "source", sourceType: "url", id: `s${place}`, url: piece.cites, title: "Cited" }]
          : [];
      return [
        { type: "text-start", id, providerMetadata },
        ...cut(piece.text).map((delta): ModelPart => ({ type: "text-delta", id, delta })),
        { type: "text-end", id },
        ...source,
      ];
    }
    case "call":
      return called(piece.id ?? `call-${place}`, piece.name, ...cut(piece.args));
    case "search": {
      const toolCallId = `own-${secretMark}-${place}`;
      const own = { toolCallId, toolName: "web_search", providerExecuted: true } as const;
      return [
        { type: "tool-call", ...own, input: '{"query":"parley"}', dynamic: true },
        { type: "tool-result", toolCallId, toolName: "web_search", result: { found: 1 }, dynamic: true },
      ];
    }
    case "unknown":
      return [{ type: "raw", rawValue: { type: "hologram", depth: 1.5 } }];
    case "draw":
      return [{ type: "file", mediaType: "image/png", data: png }];
    default:
      return piece satisfies never;
  }
}
