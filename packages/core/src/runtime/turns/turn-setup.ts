import { omitUndefined } from "@parley/fold";
import { ParleyError, toParleyError } from "../../errors.js";
import type { PreviousCall } from "../../history/history-builder.js";
import type { ConversationMessage } from "../../messages/message.js";
import type { ConversationRecord, LogStore, OpenedTurn } from "../../ports/log-store.js";
import type { ProviderAdapter, ProviderCallRecord } from "../../ports.js";
import type { Tool } from "../../turn/tools/tool.js";
import { toolDefinition } from "../../turn/tools/tool.js";
import type { StepContext, TurnSetup } from "../../turn/turn.js";
import type { CompactInTurnUses } from "../compaction/compact-in-turn.js";
import { TurnCompactor } from "../compaction/compact-in-turn.js";
import { recallTool } from "../compaction/recall.js";
import type { Defaults } from "../conversation-meta.js";
import { effectiveChoices } from "../conversation-meta.js";
import type { OpenTurn } from "../delivery/open-turn.js";
import type { Uses } from "../environment.js";
import { showFiles } from "../files/shown-files.js";
import { callerTools } from "../input/caller-tools.js";
import type { ModelBinding } from "../models.js";
import { retryWhileUnavailable, type SignalHolder } from "../nodes/retry.js";
import { toolsReady } from "../offered-tools.js";
import type { OwnerModel } from "../owner-models.js";
import type { StepContextUses } from "./step-context.js";
import { buildStepContext, type ContextRequest, withFiles } from "./step-context.js";

/** The parts of the environment that the set-up of a turn uses. */
export type TurnSetupUses = CompactInTurnUses &
  StepContextUses &
  Defaults &
  Uses<"instructions" | "keptHistories" | "toolsOf" | "toolSource" | "fileLimits" | "derivedFiles">;

/** The part of a turn's setup that follows from its conversation and its choices. */
type PreparedTurn = Pick<
  TurnSetup,
  "provider" | "providerParams" | "model" | "prices" | "tools" | "output" | "userMessages" | "context"
>;

interface PrepareRequest {
  readonly env: TurnSetupUses;
  readonly store: LogStore;
  readonly live: OpenTurn;
  readonly opened: OpenedTurn;
  /** Aborts when the turn is stopped. */
  readonly signal: AbortSignal;
  /** Aborts when another node holds the turn. */
  readonly lost: SignalHolder;
  /** Returns true if a tool may still be started. */
  readonly mayAct: () => boolean;
}

/**
 * Reads what a turn needs and resolves its effort and instructions: the turn's own choice, else the conversation's,
 * else the runtime's. Its model was fixed when it opened; one that is no longer configured fails the turn. Never
 * rejects: a missing resource fails the turn like a model that is down, as the turn's own error, in its own log.
 */
export async function prepareTurn(request: PrepareRequest): Promise<PreparedTurn> {
  const { env, store, live, opened, signal } = request;
  const read = <T>(call: () => Promise<T>) => retryWhileUnavailable(env, call, { signal });
  const userMessages = openingMessages(opened);
  let binding: OwnerModel;
  let record: ConversationRecord | null;
  let last: ProviderCallRecord | null;
  try {
    [record, last] = await Promise.all([
      read(() => store.get(live.conversationId)),
      read(() => store.lastCall(live.conversationId)),
    ]);
    if (record === null) throw new ParleyError("conversation_not_found");
    binding = env.ownerModels.resolve(
      live.owner,
      opened.choices.model ?? effectiveChoices(env, record).model,
    );
  } catch (error) {
    return failingTurn(toParleyError(error), userMessages);
  }
  live.model = binding.name;
  live.providerName = binding.providerName;
  const effort = opened.choices.reasoningEffort ?? record.reasoningEffort ?? env.reasoningEffort;
  await toolsReady(env, live.owner, signal);
  const tools = toolsOf(request, record);
  return {
    provider: binding.provider,
    model: binding.name,
    ...omitUndefined({ prices: binding.prices }),
    providerParams: {
      metadata: { provider: binding.providerName, model: binding.model },
      reasoningEffort: effort,
      cacheKey: live.conversationId,
      ...omitUndefined({ maxTokens: binding.maxOutputTokens, extraParams: binding.extraParams }),
    },
    tools,
    ...omitUndefined({ output: opened.choices.output }),
    userMessages,
    context: contextBuilder(request, {
      binding,
      record,
      tools,
      userMessages,
      previous: asPrevious(last, binding),
    }),
  };
}

function contextBuilder(
  request: PrepareRequest,
  start: {
    readonly binding: OwnerModel;
    readonly record: ConversationRecord;
    readonly tools: readonly Tool<never>[];
    readonly userMessages: readonly ConversationMessage[];
    readonly previous: PreviousCall | undefined;
  },
): TurnSetup["context"] {
  const { env, store, live, opened, signal, lost } = request;
  const { binding, userMessages } = start;
  let { record, tools, previous } = start;
  let offered = env.toolsOf(live.owner);
  const instructions = opened.choices.instructions ?? record.instructions ?? env.instructions;
  const compactor = new TurnCompactor({ env, store, live, binding, userMessages, signal, lost });
  const build = async (turnMessages: ContextRequest["turnMessages"]) => {
    const kept = env.keptHistories.of(live.owner, live.conversationId);
    const context = await retryWhileUnavailable(
      env,
      () =>
        buildStepContext({
          env,
          store,
          record,
          binding,
          instructions,
          tools: tools.map(toolDefinition),
          userMessages,
          turnMessages,
          previous,
          kept,
        }),
      { signal },
    );
    env.keptHistories.keep(live.owner, live.conversationId, kept);
    return context;
  };
  return async ({ stepId, turnMessages, onCall }): Promise<StepContext> => {
    // A changed list takes effect with the next step, never during one.
    const newest = env.toolsOf(live.owner);
    if (offered !== newest) {
      offered = newest;
      tools = toolsOf(request, record);
    }
    let context = await build(turnMessages);
    if (await compactor.before(record, context, (call) => onCall({ ...call, stepId }))) {
      record = (await retryWhileUnavailable(env, () => store.get(live.conversationId), { signal })) ?? record;
      tools = toolsOf(request, record);
      context = await build(turnMessages);
    }
    const { messages, files } = await retryWhileUnavailable(
      env,
      () =>
        showFiles(context.messages, {
          provider: binding.provider,
          model: binding.model,
          store,
          maxBytes: env.fileLimits.requestFileBytes,
          entries: context.entries,
          textOf: (file) => env.derivedFiles.textOf(live.owner, store, file),
        }),
      { signal },
    );
    const manifest = context.manifest && withFiles(context.manifest, files);
    const maxTokens = least(context.maxTokens, opened.choices.maxOutputTokens);
    if (manifest !== undefined) previous = { manifest, model: binding.name };
    return { messages, manifest, maxTokens, tools };
  };
}

/**
 * Returns the node's tools, `recall` if a summary is in force, and those of the turn's caller. None starts once the
 * turn may be lost.
 */
function toolsOf(
  { env, store, opened, mayAct, live }: PrepareRequest,
  record: ConversationRecord,
): Tool<never>[] {
  const { toolNames } = opened.choices;
  const offered = toolNames === undefined ? undefined : new Set(toolNames);
  const tools: Tool<never>[] = env.toolsOf(live.owner).filter(({ name }) => offered?.has(name) ?? true);
  if (record.compacted === true) tools.push(recallTool(store, record.id) as Tool<never>);
  if (opened.choices.tools !== undefined) tools.push(...callerTools(opened.choices.tools, tools));
  return tools.map((tool) => guarded(tool, mayAct));
}

function guarded(tool: Tool<never>, mayAct: () => boolean): Tool<never> {
  const execute: Tool<never>["execute"] = (input, context) => {
    if (!mayAct()) throw new ParleyError("stale_fence");
    return tool.execute(input, context);
  };
  // The tool itself is the prototype: it may be an instance of its own class.
  return Object.create(tool, { execute: { value: execute } }) as Tool<never>;
}

function least(given: number | undefined, chosen: number | undefined): number | undefined {
  return given === undefined || chosen === undefined ? (given ?? chosen) : Math.min(given, chosen);
}

/** Returns the call before this turn, as the history compares models: by the name that users know. */
function asPrevious(last: ProviderCallRecord | null, binding: ModelBinding): PreviousCall | undefined {
  if (last?.manifest === undefined) return undefined;
  const { provider, model } = last.metadata;
  const isSame = provider === binding.providerName && model === binding.model;
  const name = last.modelName ?? `${provider}/${model}`;
  return { manifest: last.manifest, model: isSame ? binding.name : name };
}

/** Returns the messages that opened the turn, as opposed to steering that a commit added later. */
function openingMessages({ entries }: OpenedTurn): ConversationMessage[] {
  const answered = entries.findIndex(({ message }) => message.role !== "user");
  return entries.slice(0, answered === -1 ? entries.length : answered).map(({ message }) => message);
}

function failingTurn(error: ParleyError, userMessages: readonly ConversationMessage[]): PreparedTurn {
  const provider: ProviderAdapter = { complete: () => Promise.reject(error) };
  return {
    provider,
    model: "",
    providerParams: { metadata: { provider: "", model: "" } },
    userMessages,
    context: () => Promise.reject(error),
  };
}
