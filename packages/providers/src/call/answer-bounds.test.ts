import { toProviderMessages } from "@parley/core/messages";
import type { ProviderAdapter, ProviderCallParams, ProviderStreamEvent } from "@parley/core/ports";
import { defaultTurnLimits, runTurn } from "@parley/core/turn";
import { answer, text, thinking, toolUse, validateRequest } from "@parley/testing/anthropic";
import type { Answer } from "@parley/testing/openai";
import {
  chatChunk,
  chatChunks,
  responsesEvents,
  validateChatRequest,
  validateResponsesRequest,
} from "@parley/testing/openai";
import { describe, expect, it } from "vitest";
import { AnthropicProviderAdapter } from "../anthropic/anthropic-provider-adapter.js";
import { toRequest as toMessagesRequest } from "../anthropic/request/to-request.js";
import { createChatFold } from "../openai/chat/chat-from-stream.js";
import { toChatRequest } from "../openai/chat/chat-to-request.js";
import { OpenAIChatProviderAdapter } from "../openai/chat/openai-chat-provider-adapter.js";
import { codeOf, openAIServers, read } from "../openai/openai-adapter.test-support.js";
import { createOpenAIHttpClient } from "../openai/openai-http-client.js";
import { createResponsesFold } from "../openai/responses/from-stream.js";
import { toInputMessages } from "../openai/responses/input-parts.js";
import { OpenAIProviderAdapter } from "../openai/responses/openai-provider-adapter.js";
import { toRequest } from "../openai/responses/to-request.js";
import { resilienceFor } from "./answer-resilience.js";
import type { StreamFold } from "./stream-call.js";
import { createToolNames } from "./tool-names.js";

const start = openAIServers();
const metadata = { provider: "vendor", model: "m" };
const limits = { ...defaultTurnLimits, answerBytes: 10_000, answerParts: 50 };
const params: ProviderCallParams = {
  messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
  metadata,
  limits,
};

type Vendor = "chat" | "responses" | "messages";
const vendors: readonly Vendor[] = ["chat", "responses", "messages"];

function adapterOf(
  vendor: Vendor,
  url: string,
): ProviderAdapter & Required<Pick<ProviderAdapter, "completeStream">> {
  if (vendor === "chat") return new OpenAIChatProviderAdapter({ baseUrl: url, defaultModel: "m" });
  if (vendor === "messages") {
    return new AnthropicProviderAdapter({ baseUrl: url, apiKey: "k", defaultModel: "m" });
  }
  const client = createOpenAIHttpClient({ baseUrl: url, apiKey: "k" });
  return new OpenAIProviderAdapter({ client, defaultModel: "m" });
}

/** Returns the code that a call ends with, once the server has seen the connection close. */
async function outcomeOf(vendor: Vendor, script: (answer: Answer) => Promise<void>): Promise<string> {
  const server = await start((answer) => script(answer));
  const events = await read(await adapterOf(vendor, server.url).completeStream(params));
  await server.seen[0]?.left;
  expect(server.seen).toHaveLength(1);
  return `${codeOf(events)}`;
}

/** Sends the same piece repeatedly, until the connection is closed. */
async function endless(answer: Answer, piece: string, contentType?: string): Promise<void> {
  for (let sent = 0; sent < 1_000; sent += 1) await answer.raw(piece, contentType);
}

const filler = "x".repeat(128 * 1024);

describe.each(vendors)("an answer of %s that the caller cannot see yet", (vendor) => {
  it("is given up if one event has no end", async () => {
    const code = await outcomeOf(vendor, async (answer) => {
      await answer.raw("data: ");
      await endless(answer, filler);
    });
    expect(code).toBe("answer_too_large");
  });

  it("is given up if the events never form a part", async () => {
    const hidden: Record<Vendor, object> = {
      chat: chatChunk({ tool_calls: [{ index: 0, function: { arguments: filler } }] }),
      responses: { type: "response.function_call_arguments.delta", output_index: 0, delta: filler },
      messages: {
        type: "content_block_delta",
        index: 0,
        delta: { type: "signature_delta", signature: filler },
      },
    };
    const piece = `data: ${JSON.stringify(hidden[vendor])}\n\n`;
    expect(await outcomeOf(vendor, (answer) => endless(answer, piece))).toBe("answer_too_large");
  });

  it("is given up if parts start endlessly", async () => {
    const begin = (index: number): Record<Vendor, object> => ({
      chat: chatChunk({ tool_calls: [{ index, id: `c${index}`, function: {} }] }),
      responses: {
        type: "response.output_item.added",
        output_index: index,
        item: { type: "message", id: `i${index}` },
      },
      messages: { type: "content_block_start", index, content_block: { type: "text", text: "" } },
    });
    const code = await outcomeOf(vendor, async (answer) => {
      for (let index = 0; index <= limits.answerParts; index += 1) await answer.send([begin(index)[vendor]]);
    });
    expect(code).toBe("answer_too_large");
  });
});

describe.each(["chat", "responses"] as const)("an answer of %s in one piece", (vendor) => {
  it("is given up if it has no end", async () => {
    const code = await outcomeOf(vendor, (answer) => endless(answer, filler, "application/json"));
    expect(code).toBe("answer_too_large");
  });
});

describe.each(vendors)("a turn whose answer of %s is cut at a bound", (vendor) => {
  const whole: Record<Vendor, readonly (object | string)[]> = {
    chat: [
      ...chatChunks({
        reasoning: "Let me think.",
        text: "Grüße aus Oslo.",
        calls: [
          { name: "look", arguments: '{"at":"sky"}' },
          { name: "look", arguments: '{"at":"sea"}' },
        ],
      }),
      "[DONE]",
    ],
    responses: responsesEvents([
      { type: "reasoning", summary: ["Let me think."], encrypted: "secret" },
      { type: "message", text: "Grüße aus Oslo." },
      { type: "function_call", name: "look", arguments: '{"at":"sky"}' },
      { type: "function_call", name: "look", arguments: '{"at":"sea"}' },
    ]),
    messages: answer([
      thinking("signature", "Let me ", "think."),
      text("Grüße ", "aus Oslo."),
      toolUse("call_1", "look", '{"at":', '"sky"}'),
      toolUse("call_2", "look", '{"at":', '"sea"}'),
    ]),
  };

  it("leaves a history that every provider accepts", async () => {
    const server = await start(async (answer) => {
      await answer.send(whole[vendor]);
      answer.end();
    });
    const provider = adapterOf(vendor, server.url);
    const bounds = [
      ...[1, 5, 14, 20, 28, 35, 48, 60].map((answerBytes) => ({ answerBytes })),
      { answerCalls: 1 },
      { answerParts: 1 },
      { answerParts: 2 },
      { answerParts: 3 },
    ];
    for (const bound of bounds) {
      const user = {
        id: "u",
        conversationId: "c",
        role: "user" as const,
        createdAt: new Date(0),
        content: [{ type: "text" as const, text: "Hi" }],
      };
      const turn = runTurn({
        conversationId: "c",
        turnId: "t",
        provider,
        providerParams: { metadata },
        tools: [{ name: "look", execute: () => "nothing" }],
        userMessages: [user],
        context: async () => ({ messages: toProviderMessages([user]) }),
        sink: { commitStep: async () => ({}) },
        limits: { ...bound, maxSteps: 1 },
      });
      let next = await turn.next();
      while (!next.done) next = await turn.next();
      const { reason, error, messages } = next.value;
      expect([bound, reason, error?.code]).toEqual([bound, "error", "answer_too_large"]);
      const history = toProviderMessages([user, ...messages, { ...user, id: "u2" }]);
      const tools = [{ name: "look", schema: { type: "object", properties: {} } }];
      for (const reader of [metadata, { provider: "other", model: "n" }]) {
        const request = { messages: history, tools, metadata: reader };
        const chat = toChatRequest(request, reader, {
          includeUsage: true,
          maxTokensField: "max_tokens",
          effortParams: () => undefined,
          replayReasoning: "reasoning_content",
          sendsImages: true,
          sendsFiles: false,
          sendsCacheKey: false,
          takesOutput: false,
        });
        expect(validateChatRequest(chat.body)).toEqual([]);
        const responses = toRequest({ model: "m", input: toInputMessages(history) }, { reader });
        expect(validateResponsesRequest(responses.body)).toEqual([]);
        const body = toMessagesRequest(request, { reader, maxTokens: 100, cache: undefined });
        expect(validateRequest(body.body)).toEqual([]);
      }
    }
  });
});

describe("folding a long answer", () => {
  const origin = metadata;
  const names = createToolNames(["look"]);
  const startedAt = new Date(0);
  const chat = () => createChatFold({ provider: "p", origin, names, acceptUnmarkedEnd: false, startedAt });
  const responses = () =>
    createResponsesFold({ provider: "p", origin, names, markResponse: false, startedAt });
  const argument = "y".repeat(500);
  const works: [string, () => StreamFold<never>, (index: number) => object][] = [
    [
      "chat arguments",
      chat,
      () =>
        chatChunk({ tool_calls: [{ index: 0, id: "c", function: { name: "look", arguments: argument } }] }),
    ],
    [
      "chat calls",
      chat,
      (index) => chatChunk({ tool_calls: [{ index, id: `c${index}`, function: { name: "look" } }] }),
    ],
    [
      "responses arguments",
      responses,
      (index) =>
        index === 0
          ? {
              type: "response.output_item.added",
              output_index: 0,
              item: { type: "function_call", call_id: "c", name: "look" },
            }
          : { type: "response.function_call_arguments.delta", output_index: 0, delta: argument },
    ],
    [
      "responses items without a number",
      responses,
      (index) => ({ type: "response.output_item.added", item: { type: "message", id: `i${index}` } }),
    ],
    [
      "responses parts of one item",
      responses,
      (index) => ({
        type: "response.output_text.delta",
        output_index: 0,
        content_index: index,
        delta: "a",
      }),
    ],
  ];

  /** Returns the processor time for this many events. */
  const timeOf = (createFold: () => StreamFold<never>, event: (index: number) => object, count: number) => {
    const fold = createFold();
    const events = Array.from({ length: count }, (_, index) => event(index) as never);
    const before = process.cpuUsage();
    const said: ProviderStreamEvent[] = [];
    for (const each of events) said.push(...fold.push(each));
    // The emitted text is read, as a consumer would.
    for (const each of said) if (each.type === "tool-input-delta") each.inputTextDelta.charCodeAt(0);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };

  it.each(works)("takes a time that grows with its length: %s", (_, createFold, event) => {
    const least = (count: number) => Math.min(...[1, 2].map(() => timeOf(createFold, event, count)));
    const short = least(8_000);
    // Eight times the events take eight times the time, or sixty-four times if each event processes all
    // earlier ones. Below 20 ms the garbage collector's own time dominates.
    expect(least(64_000)).toBeLessThan(30 * Math.max(short, 20_000));
  });
});

describe("the timeout of an adapter's own client", () => {
  it("is longer than that of a caller with content limits, and the default without one", () => {
    const bounds = { ...limits, firstContentMs: 3_600_000, betweenContentMs: 1_000 };
    const { resilience } = resilienceFor(bounds);
    expect(resilience?.perAttemptTimeoutMs).toBeGreaterThan(3_600_000);
    expect(resilience?.stallTimeoutMs).toBeGreaterThan(3_600_000);
    expect(resilienceFor(undefined)).toEqual({});
  });
});
