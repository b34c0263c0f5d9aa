import { convertArrayToReadableStream, MockLanguageModelV3 } from "ai/test";

type Streamed = Awaited<ReturnType<MockLanguageModelV3["doStream"]>>;

/** A part of a model's stream, below `streamText`. */
export type ModelPart = Streamed["stream"] extends ReadableStream<infer Part> ? Part : never;

/** The counters of a small answer. */
const mockUsage = {
  inputTokens: { total: 12, noCache: 4, cacheRead: 7, cacheWrite: 1 },
  outputTokens: { total: 9, text: 6, reasoning: 3 },
} as const;

/** Returns the end of an answer. */
export function finish(
  unified: "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other" = "stop",
): ModelPart {
  return { type: "finish", finishReason: { unified, raw: unified }, usage: mockUsage };
}

/** Returns text in pieces. */
export function said(id: string, ...pieces: readonly string[]): ModelPart[] {
  return [
    { type: "text-start", id },
    ...pieces.map((delta): ModelPart => ({ type: "text-delta", id, delta })),
    { type: "text-end", id },
  ];
}

/** Returns a call whose input streams in pieces. */
export function called(toolCallId: string, toolName: string, ...pieces: readonly string[]): ModelPart[] {
  return [
    { type: "tool-input-start", id: toolCallId, toolName },
    ...pieces.map((delta): ModelPart => ({ type: "tool-input-delta", id: toolCallId, delta })),
    { type: "tool-input-end", id: toolCallId },
    { type: "tool-call", toolCallId, toolName, input: pieces.join("") },
  ];
}

/** Behavior of a model in one call: its parts, or a function. */
export type MockAnswer =
  | readonly ModelPart[]
  | ((signal: AbortSignal | undefined) => ReadableStream<ModelPart>);

/** Creates a model that gives one answer per call, and repeats the last one. */
export function mockModel(...answers: readonly MockAnswer[]): MockLanguageModelV3 {
  let calls = 0;
  return new MockLanguageModelV3({
    provider: "mock",
    modelId: "mock-1",
    doStream: async ({ abortSignal }) => {
      const answer = answers[Math.min(calls, answers.length - 1)] ?? [];
      calls += 1;
      if (typeof answer === "function") return { stream: answer(abortSignal) };
      return { stream: convertArrayToReadableStream([{ type: "stream-start", warnings: [] }, ...answer]) };
    },
  });
}

/** Sends parts, and then nothing until the signal aborts; `left` is called then. */
export function hangingAfter(parts: readonly ModelPart[], left: () => void = () => {}): MockAnswer {
  return (signal) =>
    new ReadableStream<ModelPart>({
      start(controller) {
        for (const part of parts) controller.enqueue(part);
        signal?.addEventListener("abort", () => {
          left();
          controller.error(signal.reason);
        });
      },
    });
}
