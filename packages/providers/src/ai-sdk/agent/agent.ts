import { ParleyError, toParleyError } from "@parley/core/errors";
import {
  type CanonicalMessage,
  type ConversationMessage,
  createUuidV7Factory,
  fromCanonical,
  type IdFactory,
  type MessageContentPart,
  omitUndefined,
  onAbort,
  repairHistory,
  textOf,
  toCanonical,
  toProviderMessages,
  withToolValues,
} from "@parley/core/messages";
import type { MemoryStore, ProviderCallParams, ProviderMessage, Thread } from "@parley/core/ports";
import {
  type Approve,
  runTurn,
  type Tool,
  type TurnLimits,
  type TurnOutcome,
  type TurnSetup,
} from "@parley/core/turn";
import type { AgentEvent } from "@parley/wire";
import { AiSdkProviderAdapter, type AiSdkProviderAdapterConfig } from "../ai-sdk-provider-adapter.js";
import { AgentFeed, type AgentResult, type AgentStream } from "./agent-stream.js";

/** Configuration of an agent, together with the remaining settings of the adapter. */
export interface AgentConfig extends Omit<AiSdkProviderAdapterConfig, "tools"> {
  store: MemoryStore;
  /** Run here, between the model's steps. Without any, calls are left to the caller. */
  tools?: readonly Tool<never>[];
  /** Tools that the provider runs itself. */
  providerTools?: AiSdkProviderAdapterConfig["tools"];
  /** Sent before the messages of every call. Not stored. */
  instructions?: string;
  /** Number of the newest stored messages that the model is shown. Default: all. */
  historyLimit?: number;
  limits?: Partial<TurnLimits>;
  /**
   * Decides on calls whose tools require approval. Without it such a call is denied: a turn of the agent
   * cannot wait.
   */
  approve?: Approve;
  reasoningEffort?: NonNullable<ProviderCallParams["reasoningEffort"]>;
  /** Maximum number of tokens of one answer. */
  maxTokens?: number;
  /** Passed to the adapter: settings of `streamText`, and options of the provider. */
  extraParams?: Record<string, unknown>;
  /** Creates ids of turns and messages. Default: UUIDv7. */
  ids?: IdFactory;
  /** Default: the system clock. */
  clock?: NonNullable<TurnSetup["clock"]>;
}

/** A message for a turn: a stored one, or its content. */
export type AgentMessage =
  | CanonicalMessage
  | {
      /** Default: a new id. A message with an id is stored once, however often it is sent. */
      id?: string;
      role?: "user" | "system";
      content: string | readonly MessageContentPart[];
      metadata?: Record<string, unknown>;
    };

/** One turn. */
export interface AgentInput {
  threadId: string;
  /** The user's input; a string is one message. */
  messages: string | readonly AgentMessage[];
  /** The owner of a new thread. A thread of another owner is treated as unknown. */
  resourceId?: string;
  /** Aborting stops the turn, as `stop` does. */
  signal?: AbortSignal;
}

/**
 * An agent on any model of the AI SDK and any store of canonical messages. A turn loads the thread, converts
 * it, calls the model step by step, runs its tools and stores every message as soon as it is complete: the
 * input before the model is called, an answer before its tools start, results before the next step. If a turn
 * fails or is stopped, the content that had arrived is stored too, with a result for every call.
 */
export class Agent {
  readonly #config: AgentConfig;
  readonly #adapter: AiSdkProviderAdapter;
  readonly #ids: IdFactory;
  readonly #active = new Set<string>();

  constructor(config: AgentConfig) {
    const { tools: _, approve: _approve, providerTools, ...adapter } = config;
    this.#config = config;
    this.#adapter = new AiSdkProviderAdapter({
      ...adapter,
      ...omitUndefined({ tools: providerTools }),
    });
    this.#ids = config.ids ?? createUuidV7Factory();
  }

  /**
   * Starts a turn and resolves once its input is stored; an unknown thread is created. A thread has one turn
   * at a time in one agent: another one is refused with `turn_active`.
   */
  async stream(input: AgentInput): Promise<AgentStream> {
    const { threadId } = input;
    if (this.#active.has(threadId)) throw new ParleyError("turn_active");
    this.#active.add(threadId);
    try {
      const opened = await this.#open(input);
      const abort = new AbortController();
      const stop = () => abort.abort();
      const stopListening = onAbort(input.signal, stop);
      const feed = new AgentFeed({ threadId, turnId: this.#ids.next(), stop });
      this.#run(opened, feed, abort.signal)
        .catch((thrown: unknown) => feed.fail(toParleyError(thrown)))
        .finally(() => {
          this.#active.delete(threadId);
          stopListening();
        });
      return feed;
    } catch (error) {
      this.#active.delete(threadId);
      throw toParleyError(error, "store_unavailable");
    }
  }

  /** Loads the thread and stores the input. */
  async #open(input: AgentInput): Promise<OpenedTurn> {
    const { store, historyLimit } = this.#config;
    const { threadId, resourceId } = input;
    const existing = await store.getThreadById({ threadId });
    if (
      existing?.resourceId !== undefined &&
      resourceId !== undefined &&
      existing.resourceId !== resourceId
    ) {
      throw new ParleyError("conversation_not_found");
    }
    const owner = existing?.resourceId ?? resourceId;
    const now = this.#now();
    const thread: Thread = existing ?? {
      id: threadId,
      createdAt: now,
      updatedAt: now,
      ...omitUndefined({ resourceId: owner }),
    };
    const stored = existing === null ? [] : await loadMessages(store, threadId, historyLimit);
    const scribe = new Scribe(store, owner, stored.at(-1)?.createdAt);
    const userMessages = this.#inputMessages(input, scribe);
    if (existing === null) await store.saveThread({ thread });
    const known = new Set(stored.map(({ id }) => id));
    await scribe.save(userMessages.filter(({ id }) => !known.has(id)));
    const isInput = new Set(userMessages.map(({ id }) => id));
    const history = stored.filter(({ id }) => !isInput.has(id)).flatMap(fromCanonical);
    return { thread, history, userMessages, scribe };
  }

  #inputMessages(input: AgentInput, scribe: Scribe): ConversationMessage[] {
    const given = typeof input.messages === "string" ? [{ content: input.messages }] : input.messages;
    if (given.length === 0) throw new ParleyError("invalid_request", "A turn needs at least one message");
    return given.flatMap((message): ConversationMessage[] => {
      if ("threadId" in message) {
        if (message.threadId !== input.threadId) {
          throw new ParleyError("invalid_request", "A message belongs to another thread");
        }
        return fromCanonical(message);
      }
      const { id = this.#ids.next(), role = "user", content, metadata } = message;
      if (typeof content !== "string" && !Array.isArray(content)) {
        throw new ParleyError(
          "invalid_request",
          `Message ${JSON.stringify(id)} has no threadId: set it to the id of its thread`,
          { details: { messageId: id, field: "threadId" } },
        );
      }
      return [
        {
          id,
          conversationId: input.threadId,
          role,
          createdAt: scribe.after(this.#now()),
          content: typeof content === "string" ? [{ type: "text", text: content }] : [...content],
          ...omitUndefined({ metadata }),
        },
      ];
    });
  }

  async #run(opened: OpenedTurn, feed: AgentFeed, signal: AbortSignal): Promise<void> {
    const { scribe, thread } = opened;
    const { outcome, done } = await this.#drive(this.#setup(opened, feed.turnId, signal), feed);
    let failure = outcome.error;
    try {
      await scribe.save(outcome.uncommitted);
      await this.#config.store.saveThread({ thread: { ...thread, updatedAt: this.#now() } });
    } catch (thrown) {
      // A turn that had already failed keeps its error.
      if (failure === undefined) feed.push(errorEvent(feed, toParleyError(thrown, "store_unavailable")));
      failure ??= toParleyError(thrown, "store_unavailable");
    }
    this.#active.delete(thread.id);
    // Published last: a reader that sees the end of a successful turn finds everything stored.
    const { threadId: conversationId, turnId } = feed;
    const isAsPublished = failure === outcome.error && done !== undefined;
    feed.push(isAsPublished ? done : { type: "done", conversationId, turnId, reason: "error" });
    if (failure === undefined) feed.complete(resultOf(outcome, feed, scribe.saved));
    else feed.fail(failure);
  }

  async #drive(setup: TurnSetup, feed: AgentFeed): Promise<{ outcome: TurnOutcome; done?: AgentEvent }> {
    const events = runTurn(setup);
    let done: AgentEvent | undefined;
    for (;;) {
      const next = await events.next();
      if (next.done) return { outcome: next.value, ...omitUndefined({ done }) };
      if (next.value.type === "done") done = next.value;
      else feed.push(next.value);
    }
  }

  #setup(
    { history, scribe, thread, userMessages }: OpenedTurn,
    turnId: string,
    signal: AbortSignal,
  ): TurnSetup {
    const { approve, clock, extraParams, instructions, limits, maxTokens, reasoningEffort, tools } =
      this.#config;
    const before = [...instructionMessages(instructions)];
    return {
      conversationId: thread.id,
      turnId,
      ...omitUndefined({ owner: thread.resourceId }),
      provider: this.#adapter,
      providerParams: {
        metadata: this.#adapter.origin,
        cacheKey: thread.id,
        ...omitUndefined({ extraParams, maxTokens, reasoningEffort }),
      },
      ...omitUndefined({ tools }),
      ...(approve === undefined ? {} : { inputs: { approve } }),
      userMessages,
      context: async ({ turnMessages }) => {
        const { messages } = repairHistory([...history, ...userMessages, ...turnMessages]);
        return { messages: [...before, ...toProviderMessages(messages)] };
      },
      sink: {
        commitStep: async ({ messages }) => {
          await scribe.save(messages);
          return {};
        },
      },
      ids: this.#ids,
      ...omitUndefined({ clock }),
      signal,
      ...omitUndefined({ limits }),
    };
  }

  #now(): Date {
    return new Date(this.#config.clock?.now() ?? Date.now());
  }
}

interface OpenedTurn {
  readonly thread: Thread;
  /** The messages before the input. */
  readonly history: readonly ConversationMessage[];
  readonly userMessages: readonly ConversationMessage[];
  readonly scribe: Scribe;
}

/**
 * Writes messages to a store, each with a later time than the one before. A store may order by time alone,
 * and messages of one turn are often created within one millisecond.
 */
class Scribe {
  readonly #store: MemoryStore;
  readonly #owner: string | undefined;
  #lastMs: number;
  /** Messages written after the input. */
  readonly saved: CanonicalMessage[] = [];

  constructor(store: MemoryStore, owner: string | undefined, last: Date | undefined) {
    this.#store = store;
    this.#owner = owner;
    this.#lastMs = last?.getTime() ?? 0;
  }

  /** Returns the time itself, or the next millisecond after the last message. */
  after(time: Date): Date {
    this.#lastMs = Math.max(time.getTime(), this.#lastMs + 1);
    return new Date(this.#lastMs);
  }

  async save(messages: readonly ConversationMessage[]): Promise<void> {
    if (messages.length === 0) return;
    const owner = this.#owner === undefined ? {} : { resourceId: this.#owner };
    const canonical = messages.map((message) => {
      const isInput = message.role === "user" || message.role === "system";
      const createdAt = isInput ? message.createdAt : this.after(message.createdAt);
      return withToolValues(toCanonical({ ...message, createdAt }, owner));
    });
    await this.#store.saveMessages({ messages: canonical });
    this.saved.push(...canonical.filter(({ role }) => role === "assistant" || role === "tool"));
  }
}

/** Returns the newest messages, oldest first. */
async function loadMessages(
  store: MemoryStore,
  threadId: string,
  limit: number | undefined,
): Promise<CanonicalMessage[]> {
  if (limit === undefined) return store.listMessages({ threadId, orderBy: "asc" });
  const newest = await store.listMessages({ threadId, limit, orderBy: "desc" });
  return newest.toReversed();
}

function instructionMessages(instructions: string | undefined): ProviderMessage[] {
  if (instructions === undefined || instructions === "") return [];
  return [{ role: "system", content: [{ type: "text", text: instructions }] }];
}

function errorEvent({ threadId, turnId }: AgentFeed, error: ParleyError): AgentEvent {
  const { code, message, retryable } = error;
  return { type: "error", conversationId: threadId, turnId, code, message, retryable };
}

function resultOf(outcome: TurnOutcome, feed: AgentFeed, messages: CanonicalMessage[]): AgentResult {
  const last = outcome.messages.findLast(({ role }) => role === "assistant");
  return {
    threadId: feed.threadId,
    turnId: feed.turnId,
    reason: outcome.reason,
    text: last === undefined ? "" : textOf(last),
    messages,
    ...omitUndefined({ usage: outcome.usage }),
  };
}
