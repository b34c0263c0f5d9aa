import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { format } from "node:util";
import { describe, expect, it, vi } from "vitest";
import type {
  Conversation,
  ConversationEngine,
  ConversationId,
  ConversationMessage,
  ConversationStore,
  ConversationTurn,
  DefaultConversationEngineOptions,
  HistoryBudget,
  HistoryBuilder,
  HistoryBuildRequest,
  HistoryBuildResult,
  ListConversationsOptions,
  ListMessagesOptions,
  MessageContentPart,
  MessageId,
  MessageRole,
  MetadataContentPart,
  ProviderAdapter,
  ProviderCallId,
  ProviderCallMetadata,
  ProviderCallParams,
  ProviderCallRecord,
  ProviderCallResult,
  ProviderContentPart,
  ProviderMessage,
  ProviderRole,
  ProviderStream,
  ProviderStreamEvent,
  ProviderTextPart,
  ProviderToolCall,
  ProviderToolDefinition,
  RecentNTurnsHistoryBuilderOptions,
  StreamingTurn,
  StreamingTurnEvent,
  TextContentPart,
  TokenUsage,
  ToolCallContentPart,
  ToolResultContentPart,
  TurnId,
  TurnInput,
  TurnOutput,
} from "./index.js";
import { DefaultConversationEngine, InMemoryConversationStore, RecentNTurnsHistoryBuilder } from "./index.js";

/** The whole published surface, by name: omitting one breaks the build. */
interface PublishedTypes {
  ids: [ConversationId, TurnId, MessageId, ProviderCallId, MessageRole];
  content: [
    TextContentPart,
    ToolCallContentPart,
    ToolResultContentPart,
    MetadataContentPart,
    MessageContentPart,
  ];
  domain: [ConversationMessage, Conversation, TokenUsage];
  provider: [
    ProviderRole,
    ProviderTextPart,
    ProviderContentPart,
    ProviderMessage,
    ProviderToolDefinition,
    ProviderToolCall,
    ProviderCallMetadata,
    ProviderCallParams,
    ProviderCallResult,
    ProviderStreamEvent,
    ProviderStream,
    ProviderAdapter,
  ];
  store: [
    ProviderCallRecord,
    ConversationTurn,
    ListConversationsOptions,
    ListMessagesOptions,
    ConversationStore,
  ];
  history: [
    HistoryBudget,
    HistoryBuildRequest,
    HistoryBuildResult,
    HistoryBuilder,
    RecentNTurnsHistoryBuilderOptions,
  ];
  engine: [
    TurnInput,
    TurnOutput,
    StreamingTurnEvent,
    StreamingTurn,
    ConversationEngine,
    DefaultConversationEngineOptions,
  ];
}

/** Written with only the minimal shapes known: no additive field is needed anywhere. */
const minimal = {
  message: {
    id: "m",
    conversationId: "c",
    role: "user",
    createdAt: new Date(0),
    content: [
      { type: "text", text: "hi" },
      { type: "tool-call", name: "f", arguments: {} },
      { type: "tool-result", name: "f", result: 1 },
      { type: "metadata", data: null },
    ],
  } satisfies PublishedTypes["domain"][0],
  provider: {
    async complete({ messages, metadata }) {
      const text = `${metadata.model} saw ${messages.length}`;
      return {
        id: "r",
        createdAt: new Date(0),
        message: { role: "assistant", content: [{ type: "text", text }] },
      };
    },
    async completeStream(params): Promise<ProviderStream> {
      const toolCalls = [{ id: "t", name: "f", arguments: { a: 1 } }];
      const result: ProviderCallResult = { ...(await this.complete(params)), toolCalls };
      async function* events(): AsyncGenerator<ProviderStreamEvent> {
        yield { type: "delta", delta: result.message };
        for (const toolCall of toolCalls) yield { type: "tool-call", toolCall };
        yield { type: "done", result };
      }
      return Object.assign(events(), { final: Promise.resolve(result) });
    },
  } satisfies ProviderAdapter & ThisType<ProviderAdapter>,
};

describe("the package root", () => {
  it("runs a turn with a provider and messages of the minimal shapes", async () => {
    const store = new InMemoryConversationStore();
    const historyBuilder = new RecentNTurnsHistoryBuilder({ maxTurns: 2 });
    const engine: ConversationEngine = new DefaultConversationEngine({ store, historyBuilder });
    await store.createConversation({ id: "c" });
    const turn = await engine.runStreamingTurn?.({
      conversationId: "c",
      userMessages: [{ ...minimal.message, content: [{ type: "text", text: "hi" }] }],
      provider: minimal.provider,
      providerParams: { metadata: { provider: "own", model: "tiny" } },
    });
    const kinds: string[] = [];
    for await (const event of turn ?? []) kinds.push(event.type);
    expect(kinds).toEqual(["delta", "tool-call", "completed"]);
    expect((await turn?.final)?.assistantMessages[0]?.content).toMatchObject([
      { type: "text", text: "tiny saw 1" },
      { type: "tool-call", name: "f", arguments: { a: 1 } },
    ]);
  });
});

describe("the README", () => {
  it("shows an example that prints what it says", async () => {
    const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
    const [, code = "", printed = ""] = /```js\n(.*?)```\n\nprints\n\n```\n(.*?)```/s.exec(readme) ?? [];
    const here = (file: string) => JSON.stringify(new URL(file, import.meta.url).pathname);
    const local = code
      .replaceAll('"@parley/testing"', here("../../testing/src/index.ts"))
      .replaceAll('"@parley/core"', here("index.ts"));
    const folder = await mkdtemp(join(tmpdir(), "parley-readme-"));
    const lines: string[] = [];
    const log = vi.spyOn(console, "log").mockImplementation((...values: unknown[]) => {
      lines.push(`${format(...values)}\n`);
    });
    try {
      await writeFile(join(folder, "example.mjs"), local);
      await import(/* @vite-ignore */ join(folder, "example.mjs"));
    } finally {
      log.mockRestore();
      await rm(folder, { recursive: true });
    }
    expect(lines.join("")).toBe(printed);
    expect(local).not.toBe(code);
  });
});
