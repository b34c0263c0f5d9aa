import type { MessagesEvent, StartedBlock } from "@parley/providers/anthropic";

/** A piece of an answer: its start, and its deltas. */
interface Piece {
  readonly start: StartedBlock;
  readonly deltas: readonly object[];
}

/** Returns text in the given pieces. */
export function text(...pieces: readonly string[]): Piece {
  return {
    start: { type: "text", text: "" },
    deltas: pieces.map((piece) => ({ type: "text_delta", text: piece })),
  };
}

/** Returns thinking in the given pieces, then its signature. */
export function thinking(signature: string, ...pieces: readonly string[]): Piece {
  return {
    start: { type: "thinking", thinking: "", signature: "" },
    deltas: [
      ...pieces.map((piece) => ({ type: "thinking_delta", thinking: piece })),
      { type: "signature_delta", signature },
    ],
  };
}

/** Returns thinking that is hidden. */
export function redacted(data: string): Piece {
  return { start: { type: "redacted_thinking", data }, deltas: [] };
}

/** Returns a call with its argument text in the given pieces. */
export function toolUse(id: string, name: string, ...pieces: readonly string[]): Piece {
  return {
    start: { type: "tool_use", id, name, input: {} },
    deltas: pieces.map((piece) => ({ type: "input_json_delta", partial_json: piece })),
  };
}

/** Returns a use of one of the API's own tools, whose input streams too. */
export function serverToolUse(id: string, name: string, input: string): Piece {
  return {
    start: { type: "server_tool_use", id, name, input: {} },
    deltas: [{ type: "input_json_delta", partial_json: input }],
  };
}

/** Returns any other block that comes in one piece. */
export function whole(start: StartedBlock): Piece {
  return { start, deltas: [] };
}

/** Returns text with citations. */
export function citing(said: string, ...citations: readonly object[]): Piece {
  return {
    start: { type: "text", text: "", citations: [] },
    deltas: [
      { type: "text_delta", text: said },
      ...citations.map((citation) => ({ type: "citations_delta", citation })),
    ],
  };
}

/** End of an answer, and its usage. */
export interface Ending {
  readonly stopReason?: string;
  readonly usage?: object;
  readonly endUsage?: object;
  readonly id?: string;
}

/** Returns all events of an answer, with pings as the API sends them. */
export function answer(pieces: readonly Piece[], ending: Ending = {}): MessagesEvent[] {
  const hasCalls = pieces.some(({ start }) => start.type === "tool_use");
  const { stopReason = hasCalls ? "tool_use" : "end_turn", id = "msg_1" } = ending;
  const events: object[] = [
    {
      type: "message_start",
      message: {
        id,
        type: "message",
        role: "assistant",
        model: "claude-opus-5",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: ending.usage ?? { input_tokens: 10, output_tokens: 1 },
      },
    },
  ];
  for (const [index, { start, deltas }] of pieces.entries()) {
    events.push({ type: "content_block_start", index, content_block: start });
    if (index === 0) events.push({ type: "ping" });
    for (const delta of deltas) events.push({ type: "content_block_delta", index, delta });
    events.push({ type: "content_block_stop", index });
  }
  events.push({
    type: "message_delta",
    delta: { stop_reason: stopReason, stop_sequence: null },
    usage: ending.endUsage ?? { output_tokens: 20 },
  });
  events.push({ type: "message_stop" });
  return events as MessagesEvent[];
}

/** Returns the events as bytes of server-sent events. */
export function frames(events: readonly { readonly type?: string }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}
