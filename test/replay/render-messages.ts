import type { MessagesEvent } from "@parley/providers/anthropic";
import {
  answer as answerEvents,
  citing,
  redacted,
  serverToolUse,
  text,
  thinking,
  toolUse,
  whole,
} from "@parley/testing/anthropic";
import { pieces as cut } from "@parley/testing/openai";
import { type Answer, type Piece, secretMark } from "./answer.js";

type Rendered = ReturnType<typeof text>;

/** Returns the events of the Messages API for the n-th answer of a conversation. */
export function toMessagesEvents(answer: Answer, n: number): MessagesEvent[] {
  const pieces = answer.pieces.flatMap((piece, place) => render(piece, `${n}_${place}`));
  const events = answerEvents(pieces, {
    id: `msg_${secretMark}${n}`,
    ...(answer.ends === "length" ? { stopReason: "max_tokens" } : {}),
    ...(answer.ends === "refused" ? { stopReason: "refusal" } : {}),
  });
  if (answer.ends !== "failed") return events;
  const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  return [...events.slice(0, -2), error as MessagesEvent];
}

function render(piece: Piece, place: string): Rendered[] {
  switch (piece.type) {
    case "think":
      if (piece.hidden === true) return [redacted(`${secretMark}-redacted-${place}`)];
      return [thinking(`${secretMark}-signature-${place}`, ...cut(piece.text))];
    case "say":
      if (piece.cites === undefined) return [text(...cut(piece.text))];
      return [citing(piece.text, citationOf(piece.cites))];
    case "refuse":
      return [text(...cut(piece.text))];
    case "call":
      return [toolUse(piece.id ?? `toolu_${place}`, piece.name, ...cut(piece.args))];
    case "search":
      return [
        serverToolUse(`srvtoolu_${secretMark}_${place}`, "web_search", '{"query":"parley"}'),
        whole({
          type: "web_search_tool_result",
          tool_use_id: `srvtoolu_${secretMark}_${place}`,
          content: [
            {
              type: "web_search_result",
              url: "https://example.com/found",
              title: "Found",
              encrypted_content: `${secretMark}-page`,
              page_age: null,
            },
          ],
        }),
      ];
    case "unknown":
      return [whole({ type: "hologram", id: `ho_${secretMark}_${place}`, depth: 1.5 })];
    case "draw":
      // The API makes no images.
      return [];
    default:
      return piece satisfies never;
  }
}

function citationOf(url: string): object {
  return {
    type: "web_search_result_location",
    url,
    title: "Cited",
    encrypted_index: `${secretMark}-index`,
    cited_text: "as it says",
  };
}
