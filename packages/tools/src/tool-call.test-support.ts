import { runTurn, type Tool } from "@parley/core/turn";
import { createScriptedProvider, text, toolCall } from "@parley/testing";

/** Lets a model call one tool through the whole turn loop, and returns the result that it is shown. */
export async function callTool(
  tool: unknown,
  input: unknown,
): Promise<{ content: string; isError: boolean }> {
  const it = tool as Tool<never>;
  const provider = createScriptedProvider([[toolCall(it.name, input)], [text("done")]]);
  const turn = runTurn({
    conversationId: "c1",
    turnId: "t1",
    provider,
    providerParams: { metadata: { provider: "scripted", model: "one" } },
    tools: [it],
    userMessages: [],
    context: async () => ({ messages: [] }),
    sink: { commitStep: async () => ({}) },
  });
  for await (const event of turn) {
    if (event.type === "tool-result") return { content: event.content, isError: event.isError };
  }
  throw new Error("the turn ended without a result");
}
