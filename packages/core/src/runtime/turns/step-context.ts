import { omitUndefined } from "@parley/fold";
import type { ContextManifest } from "@parley/wire";
import { isParleyError, ParleyError } from "../../errors.js";
import type { HistoryBuildRequest, HistoryBuildResult, PreviousCall } from "../../history/history-builder.js";
import type { KeptHistory } from "../../history/kept-history.js";
import type { ConversationMessage } from "../../messages/message.js";
import { toProviderMessages } from "../../messages/provider/provider-messages.js";
import type { ConversationRecord } from "../../ports/log-store.js";
import type {
  ConversationStore,
  HistoryEntry,
  ProviderMessage,
  ProviderToolDefinition,
} from "../../ports.js";
import type { StepContext } from "../../turn/turn.js";
import type { Uses } from "../environment.js";
import type { OwnerModel } from "../owner-models.js";
import { answerBudget, requestBudget } from "../window-policy.js";

/** The parts of the environment that the context of a step uses. */
export type StepContextUses = Uses<"history" | "tokens">;

/** Everything that determines what a turn shows its model. */
export interface ContextRequest {
  readonly env: StepContextUses;
  readonly store: ConversationStore;
  readonly record: Pick<ConversationRecord, "id" | "createdAt" | "lastActivityAt">;
  readonly binding: OwnerModel;
  readonly instructions: string | undefined;
  readonly tools: readonly ProviderToolDefinition[];
  readonly userMessages: readonly ConversationMessage[];
  readonly turnMessages: readonly ConversationMessage[];
  readonly previous: PreviousCall | undefined;
  /** History that is kept from the conversation's last request, if any. */
  readonly kept?: KeptHistory;
}

/** A step's window, with the data that compaction and files decide by. */
export interface BuiltContext extends StepContext {
  readonly truncated: boolean;
  readonly estimatedTokens: number;
  /** Of the window. */
  readonly entries: readonly HistoryEntry[] | undefined;
}

/** The estimator's factor when a manifest's tokens were counted: usage may be reported much later. */
const factors = new WeakMap<ContextManifest, number>();

/** Returns what the estimator needs of a manifest beside its tokens, to learn from the usage that was reported. */
export function factorOf(manifest: ContextManifest): { factor?: number } {
  const factor = factors.get(manifest);
  return factor === undefined ? {} : { factor };
}

/**
 * Builds the history within the window that the policy allows. Learned values (a smaller window, a larger count of
 * tokens) shorten a request but never refuse one: if the required part does not fit, only that part is sent, unless
 * it exceeds the declared window even by the uncalibrated count.
 */
async function buildWithin(binding: OwnerModel, env: StepContextUses, build: BuildHistory) {
  const budget = requestBudget(binding);
  try {
    return await build(budget);
  } catch (error) {
    const needed = tokensNeeded(error);
    if (needed === undefined) throw error;
    const calibration = Math.max(1, env.tokens.factor?.(binding.name) ?? 1);
    const declaredBudget = requestBudget({ ...binding, contextWindow: binding.declaredWindow });
    if (needed / calibration > declaredBudget) throw error;
    return build(needed);
  }
}

/** Counts a file by the rule of the model's provider; a file that is not shown is a line of text. */
function fileCounter({ provider, model }: OwnerModel): HistoryBuildRequest["countFile"] {
  if (provider.takesFile === undefined) return undefined;
  return (file) => {
    const form = provider.takesFile?.(file, model);
    return form === undefined || form.as === "note" ? noteTokens : form.tokens;
  };
}

/** A name, a type, a size and a reason. */
const noteTokens = 40;

type BuildHistory = (maxTokens: number) => Promise<HistoryBuildResult>;

/** Returns the tokens of the part of a request that must stay, from the history's `context_overflow`. */
function tokensNeeded(error: unknown): number | undefined {
  if (!isParleyError(error) || error.code !== "context_overflow") return undefined;
  const { unit, needed } = error.details ?? {};
  return unit === "tokens" && typeof needed === "number" ? needed : undefined;
}

/** Returns a manifest with the forms of its request's files. */
export function withFiles(manifest: ContextManifest, files: ContextManifest["files"]): ContextManifest {
  if (files === undefined || files.length === 0) return manifest;
  const described = { ...manifest, files };
  const factor = factors.get(manifest);
  if (factor !== undefined) factors.set(described, factor);
  return described;
}

/** Builds one step's window: instructions, then as much of the log as fits, then the turn itself. */
export async function buildStepContext(request: ContextRequest): Promise<BuiltContext> {
  const { env, record, binding, instructions, previous, kept } = request;
  let factor: number | undefined;
  const built = await buildWithin(binding, env, (maxTokens) => {
    // The builder reads the same one, before it waits for anything.
    factor = env.tokens.factor?.(binding.name);
    return env.history.buildHistory({
      conversation: {
        id: record.id,
        createdAt: new Date(record.createdAt),
        updatedAt: new Date(record.lastActivityAt),
      },
      store: request.store,
      newUserMessages: [...request.userMessages],
      turnMessages: request.turnMessages,
      budget: { maxTokens },
      model: binding.name,
      tokens: env.tokens,
      contextWindow: binding.contextWindow,
      tools: request.tools,
      ...omitUndefined({ instructions, previous, kept, countFile: fileCounter(binding) }),
    });
  });
  const messages: ProviderMessage[] = built.providerMessages ?? toProviderMessages(built.messages);
  if (instructions !== undefined && instructions !== "") {
    messages.unshift({ role: "system", content: [{ type: "text", text: instructions }] });
  }
  if (built.manifest === undefined) throw new ParleyError("internal");
  if (factor !== undefined) factors.set(built.manifest, factor);
  return {
    messages,
    manifest: built.manifest,
    truncated: built.truncated,
    entries: built.entries,
    estimatedTokens: built.manifest.estimatedTokens,
    maxTokens: answerBudget(binding, built.manifest.estimatedTokens),
  };
}
