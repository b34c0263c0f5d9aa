import type { ProviderAdapter, ProviderCallParams } from "@parley/core/ports";
import { AiSdkProviderAdapter } from "@parley/providers/ai-sdk";
import { DemoProviderAdapter } from "@parley/providers/demo";
import { convertArrayToReadableStream, MockLanguageModelV3 } from "ai/test";
import { promptProblems } from "./prompt-problems.js";
import { AnswerQueue, type Arrived, type ProviderEndpoint } from "./provider-endpoint.js";
import { toModelParts } from "./render-mock.js";

/** Opens a model of the AI SDK with an unknown provider: all it has is the SDK's own specification. */
export async function openMockEndpoint(): Promise<ProviderEndpoint> {
  const queue = new AnswerQueue();
  let count = 0;
  let latest: Arrived | undefined;
  const create = (modelId: string) => {
    const model = new MockLanguageModelV3({
      provider: "mock",
      modelId,
      doStream: async ({ prompt, tools, toolChoice }) => {
        const problems = promptProblems(prompt);
        count += 1;
        latest = { body: { prompt, tools, toolChoice }, problems };
        if (problems.length > 0) throw new Error(problems[0]);
        const { answer, cutAt, n } = queue.next();
        const parts = toModelParts(answer, n).slice(0, cutAt);
        return { stream: convertArrayToReadableStream([{ type: "stream-start", warnings: [] }, ...parts]) };
      },
    });
    // Such a model takes no addresses, and there is no network to fetch from.
    return new AiSdkProviderAdapter({ model, download: () => Promise.reject(new Error("no network")) });
  };
  const adapters = new Map<string, ProviderAdapter>();
  return {
    name: "AI SDK, another model",
    provider: "mock",
    models: ["mock-1", "mock-2"],
    seals: false,
    adapter(model) {
      const known = adapters.get(model) ?? create(model);
      adapters.set(model, known);
      return known;
    },
    script: (answers, given) => queue.set(answers, given),
    eventsIn: (answer) => toModelParts(answer, 1).length,
    count: () => count,
    latest: () => latest,
    close: async () => {},
  };
}

/** Opens the demo model. It accepts everything and answers by keywords, so it has neither script nor rules. */
export async function openDemoEndpoint(): Promise<ProviderEndpoint> {
  let count = 0;
  let latest: Arrived | undefined;
  const demo = new DemoProviderAdapter({ pace: "instant", seed: 9 });
  const note = ({ messages, tools }: ProviderCallParams) => {
    count += 1;
    latest = { body: { messages, tools }, problems: [] };
  };
  const adapter: ProviderAdapter = {
    complete(params) {
      note(params);
      return demo.complete(params);
    },
    completeStream(params) {
      note(params);
      return demo.completeStream(params);
    },
  };
  return {
    name: "Demo",
    provider: "demo",
    models: ["demo", "demo-2"],
    seals: false,
    adapter: () => adapter,
    script: () => {},
    eventsIn: () => 0,
    count: () => count,
    latest: () => latest,
    close: async () => {},
  };
}
