import { systemClock } from "@parley/core";
import type { ConversationMessage } from "@parley/core/messages";
import { toCanonical } from "@parley/core/messages";
import type { LogStoreRoot } from "@parley/core/ports";
import { createModelCatalog, createRuntime, type ModelBinding, type Runtime } from "@parley/core/runtime";
import { createMemoryLogStore } from "@parley/testing";
import type { ShownFile } from "@parley/wire";
import { type Answer, call, say, think } from "./answer.js";
import { type History, readingsOf } from "./make-histories.js";
import type { ProviderEndpoint } from "./provider-endpoint.js";
import { attachments, camera, tools } from "./scenarios.js";

const owner = "somebody";
const conversationId = "mixed";

const answers: readonly Answer[] = [
  {
    pieces: [
      think("A clock."),
      say("Let me see."),
      call("search", '{"q": "time"}'),
      call("camera", "{}"),
      call("fail", "{}"),
    ],
  },
  { pieces: [think("So late."), say("It is late.")] },
];

/** A turn of the conversation and its end. */
export interface MixedTurn {
  readonly endpoint: ProviderEndpoint;
  readonly reason: string;
  /** Objections of the provider's rules to the turn's last request. */
  readonly problems: readonly string[];
  /** The files of the turn's last request, as the model was shown them. */
  readonly files: readonly ShownFile[];
  /** That request, as text. */
  readonly body: string;
  /** The conversation up to the end of this turn. */
  readonly history: History;
}

/**
 * Makes one conversation of the runtime in which the model changes from turn to turn, so that each provider follows
 * each, itself included. Every turn reasons, calls tools and answers.
 */
export async function makeMixedConversation(endpoints: readonly ProviderEndpoint[]): Promise<MixedTurn[]> {
  const store = createMemoryLogStore({ clock: systemClock });
  const runtime = await createRuntime({
    store,
    models: createModelCatalog(endpoints.map(bindingOf)),
    tools: [...tools, camera],
    instructions: "You are a careful assistant.",
    compactAt: 0,
    journal: { intervalMs: 0 },
    lease: { pollMs: 0 },
  });
  const turns: MixedTurn[] = [];
  try {
    for (const [place, at] of eachAfterEach(endpoints.length).entries()) {
      const endpoint = endpoints[at];
      if (endpoint === undefined) continue;
      endpoint.script(
        answers.map((answer) => ({ answer })),
        place * answers.length,
      );
      const { reason, files } = await takeTurn(runtime, endpoint, place);
      const before = turns.at(-1)?.history;
      turns.push({
        endpoint,
        reason,
        problems: endpoint.latest()?.problems ?? [],
        files,
        body: JSON.stringify(endpoint.latest()?.body ?? ""),
        history: await historyOf(store, place, before),
      });
    }
  } finally {
    await runtime.close();
    await store.close();
  }
  return turns;
}

function bindingOf(endpoint: ProviderEndpoint): ModelBinding {
  const [model] = endpoint.models;
  return {
    name: endpoint.provider,
    provider: endpoint.adapter(model),
    providerName: endpoint.provider,
    model,
    contextWindow: 1_000_000,
  };
}

async function takeTurn(
  runtime: Runtime,
  endpoint: ProviderEndpoint,
  place: number,
): Promise<Pick<MixedTurn, "reason" | "files">> {
  const me = runtime.forOwner(owner);
  const { turnId } = await me.send({
    conversationId,
    messageId: `message-${place}`,
    message: [{ type: "text", text: `What is the time? (${place})` }, ...attachments],
    model: endpoint.provider,
  });
  let reason = "unknown";
  for await (const { event } of me.events(conversationId, turnId ?? "")) {
    if (event.type === "turn-sealed") reason = event.reason ?? reason;
  }
  const { providerCalls } = await me.turn(conversationId, turnId ?? "");
  return { reason, files: providerCalls.at(-1)?.manifest?.files ?? [] };
}

async function historyOf(store: LogStoreRoot, place: number, before: History | undefined): Promise<History> {
  const { entries } = await store.forOwner(owner).readNewest({ conversationId, limit: 10_000 });
  const messages: ConversationMessage[] = entries.map(({ message }) => message).reverse();
  return {
    name: `a conversation of all, turn ${place + 1}`,
    kind: "whole",
    ...readingsOf(
      messages.map((message) => JSON.stringify(toCanonical(message))),
      messages,
    ),
    ...(before === undefined ? {} : { before }),
  };
}

/** Returns a sequence of 0 to `count` - 1 in which each directly follows each, itself included, exactly once. */
function eachAfterEach(count: number): number[] {
  const sequence: number[] = [];
  for (let first = 0; first < count; first += 1) {
    sequence.push(first);
    for (let second = first + 1; second < count; second += 1) sequence.push(first, second);
  }
  return [...sequence, 0];
}
