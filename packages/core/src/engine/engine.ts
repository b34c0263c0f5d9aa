import { omitUndefined } from "@parley/fold";
import type { AgentEvent } from "@parley/wire";
import { type Clock, systemClock } from "../clock.js";
import { ParleyError, toParleyError } from "../errors.js";
import type { HistoryBudget, HistoryBuilder, PreviousCall } from "../history/history-builder.js";
import { createUuidV7Factory, type IdFactory } from "../messages/ids.js";
import {
  type Conversation,
  type ConversationId,
  type ConversationMessage,
  requireConversationId,
} from "../messages/message.js";
import { resultFromText } from "../messages/part.js";
import { toProviderMessages } from "../messages/provider/provider-messages.js";
import { repairHistory } from "../messages/provider/repair.js";
import type {
  AgentContext,
  ConversationStore,
  ConversationTurn,
  ProviderAdapter,
  ProviderCallParams,
  ProviderMessage,
} from "../ports.js";
import type { Approve } from "../turn/approval/turn-inputs.js";
import { runTurn } from "../turn/run-turn.js";
import { type Tool, toolDefinition } from "../turn/tools/tool.js";
import type { StepContext, TurnLimits, TurnOutcome, TurnSetup } from "../turn/turn.js";
import { type StreamingTurn, TurnFeed, type TurnOutput, TurnTextDelta } from "./streaming-turn.js";

export type { StreamingTurn, StreamingTurnEvent, TurnOutput } from "./streaming-turn.js";

/** Options for one turn, or for all turns of an engine. The turn's value wins. */
export interface TurnOptions {
  /** Tools that run here. Without any, a turn makes one provider call and leaves the calls to the caller. */
  tools?: readonly Tool<never>[];
  limits?: Partial<TurnLimits>;
  /** System instructions. They come first in each request and are not part of the history. */
  instructions?: string;
  /** Keep the provider's raw responses in the turn's call records. Default false. */
  keepRaw?: boolean;
  /** Decides on calls whose tools ask for approval. Without it such a call is denied: a turn of the engine cannot wait. */
  approve?: Approve;
}

/** Input of one engine turn: the messages that open it, the model, and what the model may be shown. */
export interface TurnInput extends TurnOptions {
  conversationId: ConversationId;
  /**
   * Messages that open the turn: at least one, all of this conversation. Usually the user's; the results of calls
   * that an earlier turn left to the caller are passed here too, as tool messages.
   */
  userMessages: ConversationMessage[];
  provider: ProviderAdapter;
  /** Model, tools that are only declared, effort and the like. */
  providerParams: Omit<ProviderCallParams, "messages">;
  historyBudget?: HistoryBudget;
  agentContext?: AgentContext;
  /** Aborting stops the turn: what exists is stored, and the reason is `aborted`. */
  signal?: AbortSignal;
}

/** Runs turns of conversations that a store keeps: the input goes in, the stored turn comes out. */
export interface ConversationEngine {
  readonly store: ConversationStore;
  readonly historyBuilder: HistoryBuilder;
  /** Runs a turn to its end. */
  runTurn(input: TurnInput): Promise<TurnOutput>;
  /** Runs a turn and reports its events meanwhile. */
  runStreamingTurn?(input: TurnInput): Promise<StreamingTurn>;
}

/** Components of the engine, and defaults for its turns. */
export interface DefaultConversationEngineOptions extends TurnOptions {
  store: ConversationStore;
  historyBuilder: HistoryBuilder;
  clock?: Clock;
  /** Makes the ids of turns and messages. Default: UUIDv7. */
  ids?: IdFactory;
}

/**
 * Runs turns on any `ConversationStore`: stores the input, builds the history, calls the model, runs its tools, and
 * stores the result.
 *
 * - A conversation that does not exist is `conversation_not_found`; no input, or a message that names another
 *   conversation or none, is `invalid_request`. Both are thrown before anything is written.
 * - The input is stored first. With tools, each step's messages are stored before its tools start and before the next
 *   step; without, the answer is stored when it is complete. A partial answer is stored when the turn ends, not while
 *   it streams.
 * - A turn is always stored, also when it failed or was stopped: with the partial answer and with a result for every
 *   open call, so the next turn finds a history that it can send. After a failure `final` and `runTurn` reject with
 *   the `ParleyError`; after an abort they resolve, and `turn.metadata.reason` is `aborted`.
 * - `turn.metadata` holds `reason`, `durationMs`, `steps` (usage and timing of each), `usage` (their sum),
 *   `contextSize` (of the last one) and, after a failure, `error`.
 *
 * Turns of one conversation are not queued here: run them one after the other.
 */
export class DefaultConversationEngine implements ConversationEngine {
  readonly store: ConversationStore;
  readonly historyBuilder: HistoryBuilder;
  readonly #options: TurnOptions;
  readonly #clock: Clock;
  readonly #ids: IdFactory;

  constructor(options: DefaultConversationEngineOptions) {
    this.store = options.store;
    this.historyBuilder = options.historyBuilder;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#ids = options.ids ?? createUuidV7Factory(this.#clock);
  }

  async runTurn(input: TurnInput): Promise<TurnOutput> {
    const feed = new TurnFeed({ unread: true });
    await this.#start(input, feed);
    return feed.final;
  }

  /** Resolves when the input is stored and the turn is under way. */
  async runStreamingTurn(input: TurnInput): Promise<StreamingTurn> {
    const feed = new TurnFeed();
    await this.#start(input, feed);
    return feed;
  }

  async #start(input: TurnInput, feed: TurnFeed): Promise<void> {
    const { conversationId, userMessages } = input;
    checkInput(input);
    let conversation: Conversation | null;
    try {
      conversation = await this.store.getConversation(conversationId);
      if (conversation !== null) await this.store.appendMessages([...userMessages]);
    } catch (thrown) {
      throw toParleyError(thrown, "store_unavailable");
    }
    if (conversation === null) {
      throw new ParleyError("conversation_not_found", undefined, { details: { conversationId } });
    }
    void this.#run(input, conversation, feed);
  }

  /** Never rejects: every outcome is reported by the feed. */
  async #run(input: TurnInput, conversation: Conversation, feed: TurnFeed): Promise<void> {
    const opened = { id: this.#ids.next(), createdAt: new Date(this.#clock.now()) };
    let outcome: TurnOutcome;
    try {
      outcome = await this.#follow(this.#setup(input, conversation, opened.id), feed);
    } catch (thrown) {
      feed.fail(toParleyError(thrown));
      return;
    }
    try {
      const output = await this.#persist(input, conversation, opened, outcome);
      if (outcome.error === undefined) feed.complete(output);
      else feed.fail(outcome.error);
    } catch (thrown) {
      // If the turn itself failed, the caller needs that error, not the one from storing it.
      feed.fail(outcome.error ?? toParleyError(thrown, "store_unavailable"));
    }
  }

  #setup(input: TurnInput, conversation: Conversation, turnId: string): TurnSetup {
    const { agentContext, providerParams, userMessages } = input;
    const options = merged(this.#options, input);
    const signal = eitherSignal(input.signal, providerParams.signal);
    return {
      conversationId: conversation.id,
      turnId,
      provider: input.provider,
      providerParams: agentContext === undefined ? providerParams : { ...providerParams, agentContext },
      userMessages,
      context: this.#contextBuilder(input, options, conversation),
      sink: {
        commitStep: async ({ messages }) => {
          await this.store.appendMessages([...messages]);
          return {};
        },
      },
      clock: this.#clock,
      ids: this.#ids,
      ...(options.approve === undefined ? {} : { inputs: { approve: options.approve } }),
      ...omitUndefined({ tools: options.tools, limits: options.limits, keepRaw: options.keepRaw, signal }),
    };
  }

  #contextBuilder(input: TurnInput, options: TurnOptions, conversation: Conversation): TurnSetup["context"] {
    const { historyBudget, providerParams, userMessages } = input;
    const { instructions, tools = [] } = options;
    const { model } = providerParams.metadata;
    const names = new Set(tools.map((tool) => tool.name));
    const declared = (providerParams.tools ?? []).filter((tool) => !names.has(tool.name));
    const definitions = [...tools.map(toolDefinition), ...declared];
    let previous: PreviousCall | undefined;
    return async ({ turnMessages }): Promise<StepContext> => {
      const { messages, manifest } = await this.historyBuilder.buildHistory({
        conversation,
        store: this.store,
        // Copies, because a builder may keep what it is given while the turn continues.
        newUserMessages: [...userMessages],
        turnMessages: [...turnMessages],
        tools: definitions,
        model,
        ...omitUndefined({ budget: historyBudget, instructions, previous }),
      });
      if (manifest !== undefined) previous = { manifest, model };
      const shown = repairHistory(withTurn(messages, turnMessages)).messages;
      const sent = [...systemMessages(instructions), ...toProviderMessages(shown)];
      return { messages: sent, ...omitUndefined({ manifest }) };
    };
  }

  /** Drives the turn to its end, with or without a reader. */
  async #follow(setup: TurnSetup, feed: TurnFeed): Promise<TurnOutcome> {
    const publisher = new EventPublisher(feed, this.#clock);
    const events = runTurn(setup);
    for (;;) {
      const next = await events.next();
      if (next.done) return next.value;
      publisher.publish(next.value);
    }
  }

  async #persist(
    input: TurnInput,
    conversation: Conversation,
    opened: { readonly id: string; readonly createdAt: Date },
    outcome: TurnOutcome,
  ): Promise<TurnOutput> {
    const assistantMessages = outcome.messages.filter((message) => message.role === "assistant");
    const toolMessages = outcome.messages.filter((message) => message.role === "tool");
    const turn: ConversationTurn = {
      ...opened,
      conversationId: conversation.id,
      userMessages: input.userMessages,
      assistantMessages,
      ...(toolMessages.length > 0 ? { toolMessages } : {}),
      providerCalls: [...outcome.providerCalls],
      metadata: summaryOf(outcome),
    };
    if (outcome.uncommitted.length > 0) await this.store.appendMessages([...outcome.uncommitted]);
    await this.store.appendTurn(turn);
    // An update without changes: it moves `updatedAt`.
    const updated = await this.store.updateConversation(conversation.id, {});
    return {
      conversation: updated ?? conversation,
      turn,
      assistantMessages,
      ...(toolMessages.length > 0 ? { toolMessages } : {}),
    };
  }
}

function checkInput({ conversationId, userMessages }: TurnInput): void {
  if (userMessages.length === 0) {
    throw new ParleyError("invalid_request", "A turn needs at least one message");
  }
  userMessages.forEach(requireConversationId);
  const foreign = userMessages.find((message) => message.conversationId !== conversationId);
  if (foreign === undefined) return;
  throw new ParleyError("invalid_request", "A message belongs to another conversation", {
    details: { messageId: foreign.id, conversationId },
  });
}

function merged(engine: TurnOptions, turn: TurnOptions): TurnOptions {
  const tools = turn.tools ?? engine.tools;
  const instructions = turn.instructions ?? engine.instructions;
  const approve = turn.approve ?? engine.approve;
  return {
    limits: { ...engine.limits, ...turn.limits },
    keepRaw: turn.keepRaw ?? engine.keepRaw ?? false,
    ...omitUndefined({ tools, instructions, approve }),
  };
}

function eitherSignal(
  left: AbortSignal | undefined,
  right: AbortSignal | undefined,
): AbortSignal | undefined {
  if (left === undefined || right === undefined || left === right) return left ?? right;
  return AbortSignal.any([left, right]);
}

function systemMessages(instructions: string | undefined): ProviderMessage[] {
  if (instructions === undefined || instructions === "") return [];
  return [{ role: "system", content: [{ type: "text", text: instructions }] }];
}

/**
 * Returns the history with each message once and with the messages of the running turn. A builder that knows nothing
 * of running turns reads the stored input and appends it again: if a message appears twice, its place in the log
 * counts.
 */
function withTurn(
  history: readonly ConversationMessage[],
  turnMessages: readonly ConversationMessage[],
): ConversationMessage[] {
  const seen = new Set<string>();
  const once = history.filter((message) => {
    if (seen.has(message.id)) return false;
    seen.add(message.id);
    return true;
  });
  const latest = turnMessages.at(-1);
  if (latest === undefined || seen.has(latest.id)) return once;
  const ofTurn = new Set(turnMessages.map((message) => message.id));
  return [...once.filter((message) => !ofTurn.has(message.id)), ...turnMessages];
}

function summaryOf(outcome: TurnOutcome): Record<string, unknown> {
  const { contextSize, error, metrics, reason, usage } = outcome;
  return {
    reason,
    durationMs: metrics.durationMs,
    steps: metrics.steps,
    ...omitUndefined({ usage, contextSize }),
    ...(error === undefined ? {} : { error: error.toJSON() }),
  };
}

/** Publishes the turn loop's events to the reader of a turn. */
class EventPublisher {
  readonly #feed: TurnFeed;
  readonly #clock: Clock;
  #message: { id: string; createdAt: Date; text: string } | undefined;

  constructor(feed: TurnFeed, clock: Clock) {
    this.#feed = feed;
    this.#clock = clock;
  }

  publish(event: AgentEvent): void {
    if (!this.#feed.watched) return;
    switch (event.type) {
      case "text-delta":
        this.#feed.push(this.#textDelta(event));
        break;
      case "reasoning-delta": {
        const { delta, messageId } = event;
        const place = messageId === undefined ? {} : { messageId };
        this.#feed.push({ type: "reasoning-delta", textDelta: delta, ...place });
        break;
      }
      case "tool-call": {
        const { toolName: name, toolCallId, stepId, input, argumentsText } = event;
        const text = argumentsText === undefined ? {} : { argumentsText };
        const toolCall = { type: "tool-call" as const, name, arguments: input, ...text, toolCallId, stepId };
        this.#feed.push({ type: "tool-call", toolCall });
        break;
      }
      case "tool-output": {
        const { toolCallId, data, stream } = event;
        this.#feed.push({ type: "tool-output", toolCallId, data, stream });
        break;
      }
      case "tool-result": {
        const { toolName: name, toolCallId, stepId, content, isError, durationMs } = event;
        const result = { result: resultFromText(content), resultText: content, isError };
        const took = durationMs === undefined ? {} : { durationMs };
        const toolResult = { type: "tool-result" as const, name, ...result, toolCallId, stepId, ...took };
        this.#feed.push({ type: "tool-result", toolResult });
        break;
      }
      default:
        // The rest is part of the output: metrics, the reason, the failure.
        break;
    }
  }

  #textDelta(event: AgentEvent & { type: "text-delta" }): TurnTextDelta {
    const { conversationId, delta, messageId = event.turnId } = event;
    if (this.#message?.id !== messageId) {
      this.#message = { id: messageId, createdAt: new Date(this.#clock.now()), text: "" };
    }
    const message = this.#message;
    message.text += delta;
    const { id, createdAt } = message;
    return new TurnTextDelta(delta, message.text, { id, conversationId, role: "assistant", createdAt });
  }
}
