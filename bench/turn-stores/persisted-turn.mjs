// One turn with two tool calls, with its ids and figures: the data that the stores of this folder write.

const text = (words) => Array.from({ length: words }, (_, index) => `word${(index * 7) % 100}`).join(" ");
const question = text(8);
const thought = text(8);
const answer = text(50);
const result = JSON.stringify({ degrees: 4, wind: "north", note: text(4) });

/** Returns ids as the runtime creates them: UUIDs of version 7, which ascend. */
let made = 0;
export function nextId() {
  made += 1;
  const time = (1_700_000_000_000 + Math.floor(made / 8)).toString(16).padStart(12, "0");
  const rest = (made * 2_654_435_761).toString(16).padStart(16, "0").slice(-12);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${(made % 4_096).toString(16).padStart(3, "0")}-8abc-${rest}`;
}

/** Returns the rows of one turn: a question, an answer with two calls, two results, the last answer. */
export function turnOf(conversationId) {
  const call = (toolCallId) => ({
    type: "tool-call",
    name: "weather",
    arguments: { city: "Oslo" },
    argumentsText: '{"city": "Oslo"}',
    toolCallId,
  });
  const outcome = (toolCallId) => ({
    type: "tool-result",
    name: "weather",
    result: JSON.parse(result),
    resultText: result,
    toolCallId,
    isError: false,
  });
  const message = (role, content) => ({ id: nextId(), conversationId, role, createdAt: new Date(), content });
  return {
    turnId: nextId(),
    user: message("user", [{ type: "text", text: question }]),
    calling: message("assistant", [
      { type: "text", text: thought },
      call("call_0123456789ab"),
      call("call_cdef01234567"),
    ]),
    results: [
      message("tool", [outcome("call_0123456789ab")]),
      message("tool", [outcome("call_cdef01234567")]),
    ],
    last: message("assistant", [{ type: "text", text: answer }]),
  };
}

export function metricsOf(turnId) {
  const step = (index) => ({
    stepId: `${turnId}.${index}`,
    usage: { inputTokens: 1_000, outputTokens: 100 },
    ttftMs: 200,
    decodeMs: 800,
    genTotalMs: 1_000,
    model: "provider/model",
  });
  return {
    turnId,
    usage: { inputTokens: 2_000, outputTokens: 200 },
    durationMs: 2_500,
    contextSize: 1_100,
    steps: [step(0), step(1)],
  };
}
