import { pieces } from "./openai-responses-events.js";

/** Content of a chat completion, to be streamed in chunks. */
export interface ChatAnswer {
  readonly reasoning?: string;
  /** The field that the server streams reasoning in. Default `reasoning_content`. */
  readonly reasoningField?: "reasoning_content" | "reasoning";
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
  readonly finishReason?: string;
  readonly usage?: boolean;
}

const envelope = {
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1_763_200_000,
  model: "local-1",
};

const chatUsage = {
  prompt_tokens: 50,
  completion_tokens: 20,
  total_tokens: 70,
  prompt_tokens_details: { cached_tokens: 40 },
  completion_tokens_details: { reasoning_tokens: 8 },
};

/** Returns one chunk with a delta. */
export function chatChunk(delta: object, finishReason: string | null = null): object {
  return { ...envelope, choices: [{ index: 0, delta, finish_reason: finishReason }] };
}

/** Returns the chunks of a whole answer as OpenAI's own server sends them, without the `[DONE]`. */
export function chatChunks(answer: ChatAnswer): object[] {
  const chunks: object[] = [chatChunk({ role: "assistant", content: "" })];
  const field = answer.reasoningField ?? "reasoning_content";
  for (const piece of pieces(answer.reasoning ?? ""))
    chunks.push(chatChunk({ [field]: piece, content: null }));
  for (const piece of pieces(answer.text ?? "")) chunks.push(chatChunk({ content: piece }));
  for (const [index, call] of (answer.calls ?? []).entries()) {
    const first = {
      index,
      id: `call_${index}`,
      type: "function",
      function: { name: call.name, arguments: "" },
    };
    chunks.push(chatChunk({ tool_calls: [first] }));
    for (const piece of pieces(call.arguments)) {
      chunks.push(chatChunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
    }
  }
  const reason = answer.finishReason ?? (answer.calls === undefined ? "stop" : "tool_calls");
  chunks.push(chatChunk({}, reason));
  if (answer.usage !== false) chunks.push({ ...envelope, choices: [], usage: chatUsage });
  return chunks;
}
