// The engine alone: one conversation, one tool, text as it arrives. No server, no database, no key.
import {
  DefaultConversationEngine,
  InMemoryConversationStore,
  RecentNTurnsHistoryBuilder,
} from "@parley/core";
import { DemoProviderAdapter } from "@parley/providers/demo";
import { calculatorTool } from "@parley/tools/calculator";

const store = new InMemoryConversationStore();
const engine = new DefaultConversationEngine({
  store,
  historyBuilder: new RecentNTurnsHistoryBuilder({ maxTurns: 10 }),
  tools: [calculatorTool()],
});

const conversation = await store.createConversation({ title: "Arithmetic" });
const turn = await engine.runStreamingTurn({
  conversationId: conversation.id,
  userMessages: [
    {
      id: "m1",
      conversationId: conversation.id,
      role: "user",
      createdAt: new Date(),
      content: [{ type: "text", text: "What is (3 + 4) * 12?" }],
    },
  ],
  provider: new DemoProviderAdapter({ pace: "instant" }),
  providerParams: { metadata: { provider: "demo", model: "demo" } },
});

for await (const event of turn) {
  if (event.type === "delta") process.stdout.write(event.textDelta);
  if (event.type === "tool-call") console.log(`[calls ${event.toolCall.name}]`);
}
const { turn: record } = await turn.final;
console.log(`\n\n${record.providerCalls.length} model calls, reason ${record.metadata.reason}`);
