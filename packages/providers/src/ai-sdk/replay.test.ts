import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import {
  type CanonicalMessage,
  fromCanonical,
  type MessageOrigin,
  repairHistory,
  toProviderMessages,
} from "@parley/core/messages";
import {
  answer,
  citing,
  frames,
  redacted,
  text,
  thinking,
  toolUse,
  validateRequest,
} from "@parley/testing/anthropic";
import { responsesEvents, validateResponsesRequest } from "@parley/testing/openai";
import { jsonSchema, type LanguageModel, streamText } from "ai";
import { describe, expect, it } from "vitest";
import { createMessageListState, flushToCanonical, updateFromStreamPart } from "./agent/message-list.js";
import { AiSdkProviderAdapter } from "./ai-sdk-provider-adapter.js";
import type { StreamPart } from "./answer/from-stream-part.js";

const sse = (events: readonly object[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

/** Streams of each provider: reasoning in several pieces, text with a citation, two calls. */
const vendors = {
  openai: {
    origin: { provider: "openai.responses", model: "gpt-5.5" } satisfies MessageOrigin,
    stream: sse(
      responsesEvents([
        { type: "reasoning", summary: ["First.", "Then."], encrypted: "ENC" },
        { type: "message", text: "Let me look.", phase: "commentary", sources: ["https://x.test/"] },
        { type: "reasoning", summary: [], encrypted: "ENC2" },
        { type: "function_call", name: "add", arguments: '{"a": 1.0}' },
        { type: "function_call", name: "search", arguments: "{}" },
      ]),
    ),
    model: (fetch: typeof globalThis.fetch) => createOpenAI({ apiKey: "k", fetch }).responses("gpt-5.5"),
    problems: (body: unknown): unknown[] => validateResponsesRequest(body),
  },
  anthropic: {
    origin: { provider: "anthropic.messages", model: "claude-opus-5" } satisfies MessageOrigin,
    stream: frames(
      answer([
        thinking("SIG", "First. ", "Then."),
        redacted("HIDDEN"),
        citing("Let me look.", {
          type: "web_search_result_location",
          cited_text: "x",
          url: "https://x.test/",
          title: "X",
          encrypted_index: "I",
        }),
        text("And so on."),
        toolUse("toolu_1", "add", '{"a":', "1}"),
        toolUse("toolu_2", "search", "{}"),
      ]),
    ),
    model: (fetch: typeof globalThis.fetch) =>
      createAnthropic({ apiKey: "k", fetch }).messages("claude-opus-5"),
    problems: (body: unknown): unknown[] => validateRequest(body),
  },
} as const;
type Vendor = keyof typeof vendors;

function answering(stream: string, bodies: unknown[] = []): typeof globalThis.fetch {
  return (_url, init) => {
    bodies.push(JSON.parse(String(init?.body)));
    return Promise.resolve(new Response(stream, { headers: { "content-type": "text/event-stream" } }));
  };
}

async function recorded(vendor: Vendor): Promise<StreamPart[]> {
  const model: LanguageModel = vendors[vendor].model(answering(vendors[vendor].stream));
  const inputSchema = jsonSchema({ type: "object" });
  const { fullStream } = streamText({
    model,
    prompt: "go",
    tools: { add: { inputSchema }, search: { inputSchema } },
    ...(vendor === "openai" ? { providerOptions: { openai: { store: false } } } : {}),
    onError: () => {},
  });
  const parts: StreamPart[] = [];
  for await (const part of fullStream) parts.push(part as StreamPart);
  return parts;
}

function flushed(parts: readonly StreamPart[], origin: MessageOrigin): CanonicalMessage[] {
  const state = createMessageListState({ threadId: "t1", origin });
  for (const part of parts) updateFromStreamPart(part, state);
  const messages: CanonicalMessage[] = [];
  for (let next = flushToCanonical(state, { ended: true }); next !== null; ) {
    messages.push(next);
    next = flushToCanonical(state, { ended: true });
  }
  return JSON.parse(JSON.stringify(messages)) as CanonicalMessage[];
}

/** Returns the request for a stored answer when its reader is called again. */
async function replayed(
  stored: readonly CanonicalMessage[],
  reader: Vendor,
): Promise<Record<string, unknown>> {
  const bodies: unknown[] = [];
  const adapter = new AiSdkProviderAdapter({
    model: vendors[reader].model(answering(vendors[reader].stream, bodies)),
  });
  const { messages } = repairHistory(stored.flatMap(fromCanonical));
  const user = { role: "user" as const, content: [{ type: "text", text: "go on" }] };
  await adapter.complete({
    messages: [user, ...toProviderMessages(messages), user],
    tools: [{ name: "add" }, { name: "search" }],
    metadata: { provider: "", model: "" },
  });
  expect(bodies).toHaveLength(1);
  return bodies[0] as Record<string, unknown>;
}

describe.each([
  ["openai", "openai"],
  ["openai", "anthropic"],
  ["anthropic", "openai"],
  ["anthropic", "anthropic"],
] as const)("an answer of %s replayed to %s", (maker, reader) => {
  it("is a request that its reader accepts, wherever the answer was cut", async () => {
    const parts = await recorded(maker);
    expect(parts.at(-1)?.type).toBe("finish");
    for (let cut = 0; cut <= parts.length; cut += 1) {
      const body = await replayed(flushed(parts.slice(0, cut), vendors[maker].origin), reader);
      expect(vendors[reader].problems(body), `cut at ${cut} of ${parts.length}`).toEqual([]);
    }
  });

  it("sends data that only its author understands to its author alone", async () => {
    const body = await replayed(flushed(await recorded(maker), vendors[maker].origin), reader);
    const sent = JSON.stringify(body.input ?? body.messages);
    for (const opaque of maker === "openai" ? ["ENC", "ENC2", "rs_0"] : ["SIG", "HIDDEN"]) {
      expect(sent.includes(`"${opaque}"`), opaque).toBe(maker === reader);
    }
    // Versions of the package differ in whether they send the id of a message back to its author.
    if (maker !== reader) expect(sent).not.toContain('"msg_1"');
    expect(sent).toContain("Let me look.");
  });
});
