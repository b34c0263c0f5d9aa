import { type CanonicalMessage, fromCanonical, repairHistory } from "@parley/core/messages";
import { createCountingIds } from "@parley/testing";
import {
  called,
  finish,
  hangingAfter,
  type MockAnswer,
  type ModelPart,
  mockModel,
  said,
} from "@parley/testing/ai-sdk";
import { jsonSchema, modelMessageSchema, stepCountIs, streamText, type ToolSet } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StreamPart } from "../answer/from-stream-part.js";
import { toAiSdkMessages } from "../request/to-model-messages.js";
import {
  createMessageListState,
  flushToCanonical,
  type MessageListState,
  updateFromStreamPart,
} from "./message-list.js";

const origin = { provider: "mock", model: "mock-1" };

function createState(): MessageListState {
  let time = 0;
  const now = () => {
    time += 1;
    return new Date(time);
  };
  return createMessageListState({
    threadId: "t1",
    resourceId: "me",
    origin,
    ids: createCountingIds("m"),
    now,
  });
}

function flushAll(state: MessageListState, options?: { ended: boolean }): CanonicalMessage[] {
  const messages: CanonicalMessage[] = [];
  for (
    let message = flushToCanonical(state, options);
    message !== null;
    message = flushToCanonical(state, options)
  ) {
    messages.push(message);
  }
  return messages;
}

async function streamed(
  answers: readonly MockAnswer[],
  tools?: ToolSet,
  watch: (part: StreamPart) => void = () => {},
  abortSignal?: AbortSignal,
): Promise<StreamPart[]> {
  const parts: StreamPart[] = [];
  const { fullStream } = streamText({
    model: mockModel(...answers),
    prompt: "hi",
    maxRetries: 0,
    onError: () => {},
    stopWhen: stepCountIs(5),
    ...(tools === undefined ? {} : { tools }),
    ...(abortSignal === undefined ? {} : { abortSignal }),
  });
  for await (const part of fullStream) {
    parts.push(part);
    watch(part);
  }
  return parts;
}

function messagesOf(parts: readonly StreamPart[]): CanonicalMessage[] {
  const state = createState();
  for (const part of parts) updateFromStreamPart(part, state);
  return flushAll(state);
}

const shapes = (messages: readonly CanonicalMessage[]) =>
  messages.map(({ role, type, content }) => ({ role, type, parts: content.parts }));

const inputSchema = jsonSchema({ type: "object", properties: { a: { type: "number" } } });
const tools: ToolSet = {
  double: { inputSchema, execute: ({ a }: { a: number }) => ({ twice: a * 2 }) },
  count: {
    inputSchema,
    async *execute() {
      yield "1";
      yield "1, 2";
      yield "1, 2, 3";
    },
  },
  fail: {
    inputSchema,
    execute: () => {
      throw new Error("no luck");
    },
  },
  ask: { inputSchema },
};

describe("a stream as canonical messages", () => {
  it("is one assistant message if nothing is called, complete at the end of its step and not before", async () => {
    const parts = await streamed([
      [
        { type: "reasoning-start", id: "r" },
        { type: "reasoning-delta", id: "r", delta: "hm" },
        { type: "reasoning-delta", id: "r", delta: "", providerMetadata: { anthropic: { signature: "S" } } },
        { type: "reasoning-end", id: "r" },
        ...said("t", "Hel", "lo"),
        { type: "source", sourceType: "url", id: "s", url: "https://x.test/" },
        { type: "file", mediaType: "image/png", data: "AAAA" },
        finish(),
      ],
    ]);
    const state = createState();
    for (const part of parts) {
      expect(flushToCanonical(state)).toBeNull();
      updateFromStreamPart(part, state);
      if (part.type === "finish-step") break;
    }
    expect(flushToCanonical(state)).toEqual({
      id: "m1",
      threadId: "t1",
      role: "assistant",
      type: "text",
      createdAt: expect.any(Date),
      resourceId: "me",
      content: {
        format: 2,
        metadata: { origin },
        parts: [
          { type: "reasoning", reasoning: "hm", providerMetadata: { anthropic: { signature: "S" } } },
          { type: "text", text: "Hello" },
          { type: "source", id: "s", url: "https://x.test/" },
          { type: "file", data: "AAAA", mimeType: "image/png" },
        ],
      },
    });
    expect(flushToCanonical(state)).toBeNull();
  });

  it("has a message for each step, and results in separate messages after their calls", async () => {
    const parts = await streamed(
      [
        [
          ...said("0", "Let me."),
          ...called("c1", "double", '{"a": 4}'),
          ...called("c2", "fail", '{"a":1}'),
          finish("tool-calls"),
        ],
        [...said("0", "It is 8."), finish()],
      ],
      tools,
    );
    const [first, ...rest] = shapes(messagesOf(parts));
    expect(first).toEqual({
      role: "assistant",
      type: "text",
      parts: [
        { type: "text", text: "Let me." },
        {
          type: "tool-invocation",
          toolCallId: "c1",
          toolName: "double",
          args: { a: 4 },
          argsText: '{"a": 4}',
          state: "call",
        },
        {
          type: "tool-invocation",
          toolCallId: "c2",
          toolName: "fail",
          args: { a: 1 },
          argsText: '{"a":1}',
          state: "call",
        },
      ],
    });
    expect(rest.pop()).toEqual({
      role: "assistant",
      type: "text",
      parts: [{ type: "text", text: "It is 8." }],
    });
    // In the order in which the tools finished.
    const answer = { type: "tool-invocation", state: "result" };
    expect(rest).toHaveLength(2);
    expect(rest).toEqual(
      expect.arrayContaining([
        {
          role: "tool",
          type: "tool",
          parts: [
            {
              ...answer,
              toolCallId: "c1",
              toolName: "double",
              result: { twice: 8 },
              resultText: '{"twice":8}',
              isError: false,
            },
          ],
        },
        {
          role: "tool",
          type: "tool",
          parts: [
            {
              ...answer,
              toolCallId: "c2",
              toolName: "fail",
              result: "no luck",
              resultText: "no luck",
              isError: true,
            },
          ],
        },
      ]),
    );
  });

  it("keeps the last of a tool's results, not the preliminary ones", async () => {
    const parts = await streamed(
      [
        [...called("c1", "count", "{}"), finish("tool-calls")],
        [...said("t", "three"), finish()],
      ],
      tools,
    );
    expect(parts.filter((part) => part.type === "tool-result").length).toBeGreaterThan(2);
    const results = messagesOf(parts).filter(({ role }) => role === "tool");
    expect(results).toHaveLength(1);
    expect(results[0]?.content.parts[0]).toMatchObject({ resultText: "1, 2, 3" });
  });

  it("leaves a call open whose tool runs elsewhere", async () => {
    const parts = await streamed([[...called("c1", "ask", "{}"), finish("tool-calls")]], tools);
    expect(shapes(messagesOf(parts))).toMatchObject([
      { role: "assistant", type: "tool", parts: [{ state: "call", toolCallId: "c1" }] },
    ]);
  });

  it("answers calls of unknown tools and with bad input, as the SDK does", async () => {
    const parts = await streamed(
      [
        [...called("c1", "nope", '{"a":1}'), ...called("c2", "double", '{"a":'), finish("tool-calls")],
        [...said("t", "sorry"), finish()],
      ],
      tools,
    );
    const messages = messagesOf(parts);
    expect(messages.map(({ role }) => role)).toEqual(["assistant", "tool", "tool", "assistant"]);
    expect(messages[0]?.content.parts).toMatchObject([{ argsText: '{"a":1}' }, { argsText: '{"a":' }]);
    expect(messages[1]?.content.parts[0]).toMatchObject({ toolCallId: "c1", isError: true });
    expect(messages[2]?.content.parts[0]).toMatchObject({ toolCallId: "c2", isError: true });
  });

  it("treats a call id that is reused in a later step as another call", async () => {
    const parts = await streamed(
      [
        [...called("call_0", "double", '{"a":1}'), finish("tool-calls")],
        [...called("call_0", "double", '{"a":2}'), finish("tool-calls")],
        [...said("t", "done"), finish()],
      ],
      tools,
    );
    expect(messagesOf(parts).map(({ role }) => role)).toEqual([
      "assistant",
      "tool",
      "assistant",
      "tool",
      "assistant",
    ]);
  });

  it("accepts a call with any tools, by its types", async () => {
    const { fullStream } = streamText({
      model: mockModel([...called("c1", "ask", "{}"), finish("tool-calls")]),
      prompt: "hi",
      tools: { ask: { inputSchema: jsonSchema<{ a: number }>({ type: "object" }) } },
    });
    const state = createState();
    for await (const part of fullStream) updateFromStreamPart(part, state);
    expect(flushAll(state)).toHaveLength(1);
  });

  it("keeps a denied call's result, and the result of an earlier call", () => {
    const state = createState();
    updateFromStreamPart({ type: "tool-output-denied", toolCallId: "c9", toolName: "ask" }, state);
    expect(flushToCanonical(state)?.content.parts).toMatchObject([
      { toolCallId: "c9", isError: true, resultText: "The call was denied." },
    ]);
  });

  it("keeps what had arrived when the stream was aborted, without incomplete metadata", async () => {
    const abort = new AbortController();
    const parts = await streamed(
      [
        hangingAfter([
          { type: "reasoning-start", id: "r", providerMetadata: { openai: { itemId: "rs_1" } } },
          { type: "reasoning-delta", id: "r", delta: "hm" },
          { type: "text-start", id: "t" },
          { type: "text-delta", id: "t", delta: "par" },
        ]),
      ],
      undefined,
      (part) => part.type === "text-delta" && abort.abort(),
      abort.signal,
    );
    expect(parts.at(-1)?.type).toBe("abort");
    expect(shapes(messagesOf(parts))).toEqual([
      {
        role: "assistant",
        type: "text",
        parts: [
          { type: "reasoning", reasoning: "hm" },
          { type: "text", text: "par" },
        ],
      },
    ]);
  });

  it("keeps a failure as a separate event after what had arrived, though the SDK finishes the step", async () => {
    const parts = await streamed([
      [
        ...said("t", "par"),
        { type: "error", error: { code: "rate_limit_exceeded", message: "slow" } },
        finish("error"),
      ],
    ]);
    expect(shapes(messagesOf(parts))).toEqual([
      { role: "assistant", type: "text", parts: [{ type: "text", text: "par" }] },
      {
        role: "assistant",
        type: "event",
        parts: [{ type: "error", message: "mock: slow", code: "rate_limited" }],
      },
    ]);
  });

  it("is empty, except for the failure, if the call failed at once", async () => {
    const parts = await streamed([
      () => {
        throw new Error("no");
      },
    ]);
    expect(shapes(messagesOf(parts))).toEqual([
      {
        role: "assistant",
        type: "event",
        parts: [{ type: "error", message: "mock: no", code: "provider_rejected" }],
      },
    ]);
  });
});

const piece = fc.constantFrom("a", "b ", "{", "");
const step: fc.Arbitrary<ModelPart[]> = fc
  .array(
    fc.oneof(
      fc.array(piece, { maxLength: 3 }).map((pieces) => said("t", ...pieces)),
      fc.array(piece, { maxLength: 2 }).map((pieces): ModelPart[] => [
        { type: "reasoning-start", id: "r", providerMetadata: { openai: { itemId: "rs_1" } } },
        ...pieces.map((delta): ModelPart => ({ type: "reasoning-delta", id: "r", delta })),
        {
          type: "reasoning-end",
          id: "r",
          providerMetadata: { openai: { reasoningEncryptedContent: "E" } },
        },
      ]),
      fc
        .tuple(
          fc.constantFrom("double", "count", "fail", "ask", "nope"),
          fc.constantFrom('{"a":1}', '{"a":', ""),
        )
        .map(([name, input]) => called(`call_${name}`, name, input)),
      fc.constant<ModelPart[]>([{ type: "source", sourceType: "url", id: "s", url: "https://x.test/" }]),
      fc.constant<ModelPart[]>([{ type: "error", error: { message: "slow" } }]),
    ),
    { maxLength: 4 },
  )
  .map((pieces) => [
    ...pieces.flat(),
    finish(pieces.flat().some(({ type }) => type === "tool-call") ? "tool-calls" : "stop"),
  ]);

describe("a stream that is cut anywhere", () => {
  it("leaves messages that can be stored, read again and replayed", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 2 }), async (steps) => {
        const parts = await streamed([...steps, [...said("t", "end"), finish()]], tools);
        for (let cut = 0; cut <= parts.length; cut += 1) {
          const state = createState();
          const messages: CanonicalMessage[] = [];
          for (const part of parts.slice(0, cut)) {
            updateFromStreamPart(part, state);
            messages.push(...flushAll(state));
          }
          messages.push(...flushAll(state, { ended: true }));
          expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
          const read = JSON.parse(JSON.stringify(messages)) as CanonicalMessage[];
          const { repairs } = repairHistory(read.flatMap(fromCanonical));
          // A cut may leave calls open, and tools answer in the order in which they finish; nothing else may
          // need repair.
          const expected = ["result-synthesized", "result-moved"];
          expect(repairs.filter(({ kind }) => !expected.includes(kind))).toEqual([]);
          for (const message of toAiSdkMessages(read)) {
            expect(modelMessageSchema.safeParse(message).success, JSON.stringify(message)).toBe(true);
          }
          expect(toAiSdkMessages(read)).toEqual(toAiSdkMessages(messages));
        }
      }),
      { numRuns: 80 },
    );
  });
});
