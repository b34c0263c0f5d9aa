import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import {
  type CanonicalMessage,
  interruptedResultText,
  type MessageContentPart,
  type MessagePart,
} from "@parley/core/messages";
import type { ProviderMessage } from "@parley/core/ports";
import { answer, frames, text, validateRequest } from "@parley/testing/anthropic";
import { responsesEvents, validateResponsesRequest } from "@parley/testing/openai";
import { type ModelMessage, modelMessageSchema } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyMessages, anyText } from "../../call/provider-message-arbitrary.test-support.js";
import { AiSdkProviderAdapter } from "../ai-sdk-provider-adapter.js";
import { toAiSdkMessages } from "./to-model-messages.js";

let made = 0;
function stored(
  role: CanonicalMessage["role"],
  parts: MessagePart[],
  content: Partial<CanonicalMessage["content"]> = {},
): CanonicalMessage {
  made += 1;
  return {
    id: `m${made}`,
    threadId: "t1",
    role,
    type: "text",
    createdAt: new Date(made),
    content: { format: 2, parts, ...content },
  };
}

const said = (text: string): MessagePart => ({ type: "text", text });
const call = (toolCallId: string, argsText = "{}"): MessagePart => ({
  type: "tool-invocation",
  toolCallId,
  toolName: "add",
  argsText,
  state: "call",
});
const result = (toolCallId: string, resultText: string, isError = false): MessagePart => ({
  type: "tool-invocation",
  toolCallId,
  toolName: "add",
  resultText,
  isError,
  state: "result",
});

describe("stored messages as messages of the AI SDK", () => {
  it("become one each, with calls and results in the SDK's form", () => {
    expect(
      toAiSdkMessages([
        stored("system", [said("Be brief.")]),
        stored("user", [said("What is 1+2, and is it odd?")]),
        stored("assistant", [said("Let me see."), call("c1", '{"a":1,"b":2}'), call("c2")]),
        stored("tool", [result("c1", '{"sum":3}')]),
        stored("tool", [result("c2", "no such thing", true)]),
        stored("assistant", [said("3, odd.")]),
      ]),
    ).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "What is 1+2, and is it odd?" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Let me see." },
          { type: "tool-call", toolCallId: "c1", toolName: "add", input: { a: 1, b: 2 } },
          { type: "tool-call", toolCallId: "c2", toolName: "add", input: {} },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "c1",
            toolName: "add",
            output: { type: "json", value: { sum: 3 } },
          },
          {
            type: "tool-result",
            toolCallId: "c2",
            toolName: "add",
            output: { type: "error-text", value: "no such thing" },
          },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "3, odd." }] },
    ]);
  });

  it("keep a result's text if a provider would serialize its value differently", () => {
    const messages = toAiSdkMessages([
      stored("user", [said("go")]),
      stored("assistant", [call("c1"), call("c2"), call("c3")]),
      stored("tool", [result("c1", '{ "n": 1.0 }'), result("c2", "plain"), result("c3", "[1]")]),
    ]);
    const outputs = messages.flatMap((message) =>
      message.role === "tool"
        ? message.content.map((part) => part.type === "tool-result" && part.output)
        : [],
    );
    expect(outputs).toEqual([
      { type: "text", value: '{ "n": 1.0 }' },
      { type: "text", value: "plain" },
      { type: "json", value: [1] },
    ]);
  });

  it("are split if another writer merged a call with its result", () => {
    const merged: MessagePart = {
      type: "tool-invocation",
      toolCallId: "c1",
      toolName: "add",
      args: { a: 1 },
      result: { sum: 1 },
      state: "result",
    };
    expect(toAiSdkMessages([stored("assistant", [said("Adding."), merged, said("Done.")])])).toMatchObject([
      { role: "assistant", content: [{ type: "text" }, { type: "tool-call", input: { a: 1 } }] },
      { role: "tool", content: [{ toolCallId: "c1", output: { type: "json", value: { sum: 1 } } }] },
      { role: "assistant", content: [{ type: "text", text: "Done." }] },
    ]);
  });

  it("lose unfinished calls, errors, data, sources and empty content", () => {
    expect(
      toAiSdkMessages([
        stored("user", [said("go")]),
        stored("assistant", [
          {
            type: "tool-invocation",
            toolCallId: "c1",
            toolName: "add",
            args: { a: 1 },
            state: "partial-call",
          },
          { type: "data", data: { mine: true } },
          { type: "error", message: "it broke", code: "network" },
          { type: "source", id: "s", url: "https://x.test/" },
          said("   \n"),
        ]),
        stored("assistant", []),
        stored("user", [said("again")]),
      ]),
    ).toEqual([
      { role: "user", content: [{ type: "text", text: "go" }] },
      { role: "user", content: [{ type: "text", text: "again" }] },
    ]);
  });

  it("have the text that other writers keep beside the parts", () => {
    expect(toAiSdkMessages([stored("user", [], { content: "only here" })])).toEqual([
      { role: "user", content: [{ type: "text", text: "only here" }] },
    ]);
  });

  it("have one result per call, right after it, whatever was stored", () => {
    const messages = toAiSdkMessages([
      stored("tool", [result("c0", "an orphan")]),
      stored("assistant", [call("c1"), call("c2")]),
      stored("user", [said("meanwhile")]),
      stored("tool", [result("c2", "late")]),
      stored("tool", [result("c2", "twice")]),
    ]);
    expect(messages).toMatchObject([
      { role: "assistant", content: [{ toolCallId: "c1" }, { toolCallId: "c2" }] },
      {
        role: "tool",
        content: [
          { toolCallId: "c1", output: { type: "error-text", value: interruptedResultText } },
          { toolCallId: "c2", output: { type: "text", value: "late" } },
        ],
      },
      { role: "user" },
    ]);
  });

  it("carry a part's metadata as its options, unchanged", () => {
    const openai = { itemId: "rs_1", reasoningEncryptedContent: "E", nested: { list: [1, null] } };
    expect(
      toAiSdkMessages([
        stored("user", [said("go")]),
        stored("assistant", [
          { type: "reasoning", reasoning: "hm", providerMetadata: { openai } },
          { type: "text", text: "ok", providerMetadata: { openai: { itemId: "msg_1" } } },
        ]),
      ])[1],
    ).toEqual({
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm", providerOptions: { openai } },
        { type: "text", text: "ok", providerOptions: { openai: { itemId: "msg_1" } } },
      ],
    });
  });

  it("carry it to one model alone if the reader is named", () => {
    const origin = { provider: "openai.responses", model: "gpt-5.5" };
    const history = [
      stored("user", [said("go")]),
      stored(
        "assistant",
        [
          { type: "reasoning", reasoning: "hm", providerMetadata: { openai: { itemId: "rs_1" } } },
          { type: "text", text: "ok", providerMetadata: { openai: { itemId: "msg_1" } } },
        ],
        { metadata: { origin } },
      ),
    ];
    expect(toAiSdkMessages(history, { reader: origin })[1]?.content).toHaveLength(2);
    expect(toAiSdkMessages(history, { reader: { ...origin, model: "other" } })[1]).toEqual({
      role: "assistant",
      content: [{ type: "text", text: "ok" }],
    });
  });

  it("contain files by their bytes or their address, texts as text, and a note for what cannot be sent", () => {
    const messages = toAiSdkMessages([
      stored("user", [
        { type: "file", data: new Uint8Array([1, 2, 3]), mimeType: "image/png" },
        {
          type: "file",
          data: "",
          url: "https://x.test/a.pdf",
          mimeType: "application/pdf",
          filename: "a.pdf",
        },
        { type: "file", data: btoa("hello"), mimeType: "text/plain", filename: "a.txt" },
        { type: "file", data: "", url: "file:///etc/passwd", mimeType: "text/plain" },
      ]),
    ]);
    expect(messages[0]?.content).toEqual([
      { type: "file", data: "AQID", mediaType: "image/png" },
      {
        type: "file",
        data: new URL("https://x.test/a.pdf"),
        mediaType: "application/pdf",
        filename: "a.pdf",
      },
      { type: "text", text: "File a.txt:\n\nhello" },
      { type: "text", text: "[File (text/plain) cannot be shown]" },
    ]);
  });

  it("show a model what it wrote if its arguments were not an object", () => {
    const inputs = ['{"a":', "[1]", "7", ""].map((argsText) => {
      const [message] = toAiSdkMessages([stored("assistant", [call("c1", argsText)])]);
      const content = (message?.content ?? []) as { input?: unknown }[];
      return content[0]?.input;
    });
    expect(inputs).toEqual([{ _raw: '{"a":' }, { _raw: "[1]" }, { _raw: "7" }, {}]);
  });

  it("mark later instructions, because most models accept them only at the start", () => {
    expect(
      toAiSdkMessages([stored("user", [said("go")]), stored("system", [said("Now in French.")])])[1],
    ).toEqual({ role: "user", content: [{ type: "text", text: "<system>\nNow in French.\n</system>" }] });
  });

  it("are the same from a database that reorders keys", () => {
    const metadata = { openai: { b: 1, a: { d: 1, c: 2 } } };
    const reordered = { openai: { a: { c: 2, d: 1 }, b: 1 } };
    const [one, other] = [metadata, reordered].map((providerMetadata) =>
      JSON.stringify(
        toAiSdkMessages([{ ...stored("user", [{ type: "text", text: "x", providerMetadata }]), id: "same" }]),
      ),
    );
    expect(one).toBe(other);
  });
});

const jsonValue = fc.jsonValue({ maxDepth: 2 });
const metadata = fc.option(
  fc.dictionary(fc.constantFrom("openai", "anthropic", "ai-sdk", "__proto__"), jsonValue, { maxKeys: 2 }),
  { nil: undefined },
);
const callId = fc.constantFrom("c1", "c2", "c3", "with space", "", "x".repeat(90));
const anyStoredPart = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("text"), text: anyText, providerMetadata: metadata }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant("reasoning"), reasoning: anyText, providerMetadata: metadata }),
  },
  {
    weight: 5,
    arbitrary: fc.record(
      {
        type: fc.constant("tool-invocation"),
        toolCallId: callId,
        toolName: fc.constantFrom("add", "files.read", ""),
        args: jsonValue,
        argsText: fc.oneof(fc.json({ maxDepth: 1 }), anyText),
        result: jsonValue,
        resultText: fc.oneof(fc.json({ maxDepth: 1 }), anyText),
        isError: fc.boolean(),
        state: fc.constantFrom("call", "result", "partial-call"),
        providerMetadata: metadata,
      },
      { requiredKeys: ["type", "toolCallId", "toolName", "state"] },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record(
      {
        type: fc.constant("file"),
        data: fc.oneof(fc.base64String({ maxLength: 12 }), anyText, fc.uint8Array({ maxLength: 4 })),
        mimeType: fc.constantFrom("image/png", "image/x", "text/plain", "application/pdf", "", "nonsense"),
        url: fc.oneof(fc.webUrl(), anyText),
        filename: anyText,
      },
      { requiredKeys: ["type", "data"] },
    ),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("source"), url: fc.webUrl() }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("data"), data: jsonValue, providerMetadata: metadata }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("error"), message: anyText }) },
  { weight: 1, arbitrary: fc.constantFrom({ type: "hologram" }, null, 7, "text") },
);
const anyStored = fc
  .array(
    fc.record({
      role: fc.constantFrom("system", "user", "assistant", "assistant", "tool", "developer"),
      content: fc.record(
        {
          format: fc.constant(2),
          parts: fc.array(anyStoredPart, { maxLength: 5 }),
          content: anyText,
          metadata: fc.constantFrom({ origin: { provider: "openai", model: "m" } }, { origin: 7 }),
          providerMetadata: metadata,
        },
        { requiredKeys: ["format", "parts"] },
      ),
    }),
    { maxLength: 8 },
  )
  .map((messages) =>
    messages.map(
      (message, index) =>
        ({
          id: `m${index}`,
          threadId: "t1",
          type: "text",
          createdAt: new Date(index),
          ...message,
        }) as CanonicalMessage,
    ),
  );

/** Returns violations that the SDK's schema does not check. */
function brokenPairs(messages: readonly ModelMessage[]): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  messages.forEach((message, index) => {
    if (message.content.length === 0) problems.push(`message ${index} is empty`);
    if (message.role === "assistant" && typeof message.content !== "string") {
      const calls = message.content.flatMap((part) =>
        part.type === "tool-call" && part.providerExecuted !== true ? [part.toolCallId] : [],
      );
      for (const id of calls) {
        if (seen.has(id)) problems.push(`call ${id} comes twice`);
        seen.add(id);
      }
      const next = messages[index + 1];
      const results =
        next?.role === "tool"
          ? next.content.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : []))
          : [];
      if (JSON.stringify(calls) !== JSON.stringify(results)) {
        problems.push(`calls ${calls} have results ${results}`);
      }
    }
    if (message.role === "tool" && messages[index - 1]?.role !== "assistant") {
      problems.push(`results ${index} stand behind no calls`);
    }
  });
  return problems;
}

describe("any history", () => {
  it("is valid for the SDK, with each call answered once, right after it", () => {
    fc.assert(
      fc.property(anyStored, (history) => {
        const messages = toAiSdkMessages(history);
        for (const message of messages) {
          const parsed = modelMessageSchema.safeParse(message);
          expect(parsed.success, JSON.stringify(message)).toBe(true);
        }
        expect(brokenPairs(messages)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  // The real packages below the SDK, with a `fetch` that keeps the body and answers.
  const spoken = responsesEvents([{ type: "message", text: "ok" }]);
  const answers = {
    openai: spoken.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""),
    anthropic: frames(answer([text("ok")])),
  };
  async function bodyOf(vendor: "openai" | "anthropic", messages: ProviderMessage[]): Promise<unknown> {
    const bodies: unknown[] = [];
    const fetch = (_url: unknown, init?: RequestInit) => {
      bodies.push(JSON.parse(String(init?.body)));
      return Promise.resolve(
        new Response(answers[vendor], { headers: { "content-type": "text/event-stream" } }),
      );
    };
    const model =
      vendor === "openai"
        ? createOpenAI({ apiKey: "k", fetch: fetch as typeof globalThis.fetch }).responses("gpt-5.5")
        : createAnthropic({ apiKey: "k", fetch: fetch as typeof globalThis.fetch }).messages("claude-opus-5");
    const download = async (requests: readonly { isUrlSupportedByModel: boolean }[]) => {
      if (requests.some(({ isUrlSupportedByModel }) => !isUrlSupportedByModel)) throw new Error("no network");
      return requests.map(() => null);
    };
    const adapter = new AiSdkProviderAdapter({ model, download });
    await adapter.complete({ messages, metadata: { provider: "openai", model: "gpt-test" } });
    expect(bodies).toHaveLength(1);
    return bodies[0];
  }

  it("is a request that OpenAI accepts", async () => {
    await fc.assert(
      fc.asyncProperty(anyMessages.map(withSdkMetadata), async (messages) => {
        expect(validateResponsesRequest(await bodyOf("openai", messages))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it("is a request that Claude accepts", async () => {
    await fc.assert(
      fc.asyncProperty(anyMessages.map(withSdkMetadata), async (messages) => {
        expect(validateRequest(await bodyOf("anthropic", messages))).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

/** Converts the metadata of Parley's own adapters to the form of the SDK's packages. */
function withSdkMetadata(messages: ProviderMessage[]): ProviderMessage[] {
  return messages.map((message) => ({
    ...message,
    content: (message.content as MessageContentPart[]).map((part) => {
      const { openai, anthropic, ...rest } = part.providerMetadata ?? {};
      if (openai === undefined && anthropic === undefined) return part;
      const { id, encryptedContent, phase } = openai ?? {};
      return {
        ...part,
        providerMetadata: {
          ...rest,
          ...(openai === undefined
            ? {}
            : {
                openai: {
                  ...(id === undefined ? {} : { itemId: id }),
                  ...(encryptedContent === undefined ? {} : { reasoningEncryptedContent: encryptedContent }),
                  ...(phase === "other" || phase === undefined ? {} : { phase }),
                },
              }),
          ...(anthropic === undefined ? {} : { anthropic: { signature: anthropic.signature ?? null } }),
        },
      };
    }),
  }));
}
