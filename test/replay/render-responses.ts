import { type AnswerItem, type ResponsesStreamEvent, responsesEvents } from "@parley/testing/openai";
import { type Answer, type Piece, png, secretMark } from "./answer.js";

/**
 * Returns the events of the Responses API for the n-th answer of a conversation. Its ids are the API's: never the same
 * twice in one conversation, unless `sameIds` selects a server that counts from 0 every time.
 */
export function toResponsesEvents(answer: Answer, n: number, sameIds = false): ResponsesStreamEvent[] {
  const items = answer.pieces.flatMap((piece, place) => itemsOf(piece, `${n}_${place}`));
  const events = responsesEvents(items, endings[answer.ends ?? "none"]);
  if (sameIds) return events;
  const named = JSON.stringify(events).replace(
    /"(rs|msg|fc|call|resp)_(\d+)"/g,
    (_, kind: string, place: string) => `"${kind}_${kind === "call" ? "" : secretMark}${n}_${place}"`,
  );
  return JSON.parse(named) as ResponsesStreamEvent[];
}

const endings = {
  none: {},
  refused: { status: "incomplete", reason: "content_filter" },
  length: { status: "incomplete", reason: "max_output_tokens" },
  failed: { status: "failed", error: { code: "server_error", message: "The server had an error" } },
} as const;

function itemsOf(piece: Piece, place: string): AnswerItem[] {
  switch (piece.type) {
    case "think": {
      const summary = piece.hidden === true ? [] : [piece.text, `${piece.text} And more.`];
      return [{ type: "reasoning", summary, encrypted: `${secretMark}-reasoning-${place}` }];
    }
    case "say": {
      const sources = piece.cites === undefined ? {} : { sources: [piece.cites] };
      return [{ type: "message", text: piece.text, phase: "commentary", ...sources }];
    }
    case "refuse":
      return [{ type: "refusal", text: piece.text }];
    case "call":
      return [{ type: "function_call", name: piece.name, arguments: piece.args }];
    case "search": {
      const action = { type: "search", query: "parley", queries: ["parley"] };
      const id = `ws_${secretMark}_${place}`;
      return [{ type: "opaque", item: { type: "web_search_call", id, status: "completed", action } }];
    }
    case "unknown": {
      const item = { type: "hologram", id: `ho_${secretMark}_${place}`, status: "completed", depth: 1.5 };
      return [{ type: "opaque", item }];
    }
    case "draw": {
      const id = `ig_${secretMark}_${place}`;
      const item = {
        type: "image_generation_call",
        id,
        status: "completed",
        output_format: "png",
        result: png,
      };
      return [{ type: "opaque", item }];
    }
    default:
      return piece satisfies never;
  }
}
