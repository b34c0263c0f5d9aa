// A Responses stream as the API sends it: lifecycle events around one message made of many text deltas.

const ITEM_ID = "msg_68af4030592c81938ec0a5fbab4a3e9f0b7a8c2d1e5f6a7b";
const RESPONSE_ID = "resp_68af4030baa48193b0b43b4c2a176a1a0f3e2d1c4b5a6978";
const WORDS = [
  "The",
  " stream",
  " carries",
  " one",
  " token",
  " per",
  " event",
  ",",
  " and",
  " so",
  " on",
  ".",
  " “",
  "naïve",
  "”",
  "\n\n",
];

/** Returns the text of the n-th delta. Most are plain ASCII; a few are not, as in real prose. */
export function deltaText(n) {
  return WORDS[n % 97 === 0 ? 12 + ((n / 97) % 4) : n % 12];
}

/** Returns the whole stream as a list of encoded events. `textOf` returns the text of the n-th delta. */
export function encodeStream(deltas, textOf = deltaText) {
  let sequence = 0;
  const encode = (type, fields) => {
    const event = { type, sequence_number: sequence++, ...fields };
    return Buffer.from(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`);
  };
  const place = { item_id: ITEM_ID, output_index: 0, content_index: 0 };
  const text = Array.from({ length: deltas }, (_, n) => textOf(n)).join("");
  const part = { type: "output_text", annotations: [], logprobs: [], text };
  const message = { id: ITEM_ID, type: "message", status: "completed", role: "assistant", content: [part] };
  return [
    encode("response.created", { response: response("in_progress", []) }),
    encode("response.in_progress", { response: response("in_progress", []) }),
    encode("response.output_item.added", {
      output_index: 0,
      item: { ...message, status: "in_progress", content: [] },
    }),
    encode("response.content_part.added", { ...place, part: { ...part, text: "" } }),
    ...Array.from({ length: deltas }, (_, n) =>
      encode("response.output_text.delta", {
        ...place,
        delta: textOf(n),
        logprobs: [],
        obfuscation: "h7Qe2LxZ9mW".slice(n % 8),
      }),
    ),
    encode("response.output_text.done", { ...place, text, logprobs: [] }),
    encode("response.content_part.done", { ...place, part }),
    encode("response.output_item.done", { output_index: 0, item: message }),
    encode("response.completed", { response: response("completed", [message], deltas) }),
  ];
}

function response(status, output, outputTokens) {
  return {
    id: RESPONSE_ID,
    object: "response",
    created_at: 1763200000,
    status,
    error: null,
    incomplete_details: null,
    instructions: "You are a helpful assistant.",
    max_output_tokens: null,
    model: "gpt-example-2026-01-01",
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: "low", summary: null },
    store: false,
    temperature: 1,
    text: { format: { type: "text" }, verbosity: "medium" },
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    truncation: "disabled",
    usage:
      outputTokens === undefined
        ? null
        : {
            input_tokens: 37,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: outputTokens,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: 37 + outputTokens,
          },
    metadata: {},
  };
}
