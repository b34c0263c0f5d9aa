import { eventTraits, omitUndefined } from "@parley/fold";
import type { AgentEvent } from "@parley/wire";
import { InMemoryConversationStore } from "../../engine/in-memory-conversation-store.js";
import type { ConversationMessage } from "../../messages/message.js";
import { runTurn } from "../../turn/run-turn.js";
import type { Tool } from "../../turn/tools/tool.js";
import { toolDefinition } from "../../turn/tools/tool.js";
import type { StepContext, TurnSetup, TurnStream } from "../../turn/turn.js";
import { checkedOutput } from "../admission/checked-output.js";
import type { ExternalMessage, SendInput } from "../admission/inbox.js";
import { resolveAddresses } from "../admission/sent-parts.js";
import type { OwnerScope } from "../api/owner-scope.js";
import { showFiles } from "../files/shown-files.js";
import { checkedTools } from "../input/caller-tools.js";
import { toolsReady } from "../offered-tools.js";
import { buildStepContext } from "./step-context.js";

/** A turn that stores nothing. */
export interface UnkeptInput
  extends Pick<
    SendInput,
    "model" | "reasoningEffort" | "instructions" | "tools" | "toolNames" | "maxOutputTokens" | "output"
  > {
  /** The whole conversation, which ends with the message to answer. */
  readonly messages: readonly ExternalMessage[];
  /** Default: a new one. */
  readonly turnId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a turn without a log, for callers that keep the conversation themselves. The node's own tools run; a call of
 * the caller's tools ends the turn with `tool-calls`; a call that needs a person is denied. It cannot be resumed: it
 * ends when its reader leaves, and with its node. The events end with `done`.
 */
export async function* runUnkept(
  scope: OwnerScope,
  input: UnkeptInput,
): AsyncGenerator<AgentEvent, void, undefined> {
  const { env, owner, inbox } = scope;
  inbox.checkReady(owner);
  inbox.checkCapacity(owner);
  const setup = await setupOf(scope, input);
  const { conversationId, turnId, model = "" } = setup;
  const context = { owner, conversationId, turnId, model };
  let end = () => {};
  // Counted like every turn that runs here.
  const counted = inbox.opening(owner, conversationId, turnId, () => {
    return new Promise<void>((resolve) => {
      end = resolve;
    });
  });
  const events: TurnStream = runTurn(setup);
  try {
    for await (const event of events) {
      if (eventTraits[event.type].observed) env.observe(event, context);
      yield event;
    }
  } finally {
    end();
    await counted;
  }
}

async function setupOf({ env, owner, inbox }: OwnerScope, input: UnkeptInput): Promise<TurnSetup> {
  const { signal, output, maxOutputTokens } = input;
  const binding = env.ownerModels.resolve(owner, input.model);
  const turnId = input.turnId ?? env.ids.next();
  const conversationId = env.ids.next();
  const files = env.root.forOwner(owner);
  const resolved = await Promise.all(
    input.messages.map(async (given) => ({
      ...given,
      content: await resolveAddresses(files, given.content),
    })),
  );
  const messages = inbox.externalMessages(resolved, conversationId, turnId);
  await toolsReady(env, owner, signal);
  const offered = env.toolsOf(owner);
  const declared = input.tools === undefined ? [] : checkedTools(input.tools, offered);
  const names = input.toolNames === undefined ? undefined : new Set(input.toolNames);
  const tools: Tool<never>[] = offered.filter(({ name }) => names?.has(name) ?? true);
  const definitions = [...tools.map(toolDefinition), ...declared];
  const store = new InMemoryConversationStore();
  await store.createConversation({ id: conversationId });
  await store.appendMessages(messages);
  const asked = messages.slice(messages.findLastIndex(({ role }) => role !== "user") + 1);
  const now = env.clock.now();
  const context = async (turnMessages: readonly ConversationMessage[]): Promise<StepContext> => {
    const built = await buildStepContext({
      env,
      store,
      record: { id: conversationId, createdAt: now, lastActivityAt: now },
      binding,
      instructions: input.instructions ?? env.instructions,
      tools: definitions,
      userMessages: asked,
      turnMessages,
      previous: undefined,
    });
    const maxTokens = Math.min(
      built.maxTokens ?? Number.POSITIVE_INFINITY,
      maxOutputTokens ?? Number.POSITIVE_INFINITY,
    );
    const shown = await showFiles(built.messages, {
      provider: binding.provider,
      model: binding.model,
      store: files,
      maxBytes: env.fileLimits.requestFileBytes,
    });
    return { messages: shown.messages, ...(Number.isFinite(maxTokens) ? { maxTokens } : {}) };
  };
  return {
    conversationId,
    turnId,
    owner,
    provider: binding.provider,
    model: binding.name,
    ...omitUndefined({ prices: binding.prices }),
    providerParams: {
      metadata: { provider: binding.providerName, model: binding.model },
      reasoningEffort: input.reasoningEffort ?? env.reasoningEffort,
      ...omitUndefined({ maxTokens: binding.maxOutputTokens, extraParams: binding.extraParams }),
      ...(declared.length === 0 ? {} : { tools: declared }),
    },
    tools,
    userMessages: asked,
    context: ({ turnMessages }) => context(turnMessages),
    sink: { commitStep: async () => ({}) },
    limits: env.limits,
    clock: env.clock,
    ids: env.ids,
    onCall: (call) =>
      env.spending.madeOutsideTurn(call, { owner, model: binding.name, purpose: call.purpose ?? "step" }),
    ...(output === undefined ? {} : { output: checkedOutput(output) }),
    ...omitUndefined({ signal }),
  };
}
