import { collect, type MessageOrigin, omitUndefined } from "@parley/core/messages";
import type {
  EffortQuery,
  FileForm,
  ProviderAdapter,
  ProviderCallParams,
  ProviderCallResult,
  ProviderFile,
  ProviderStream,
} from "@parley/core/ports";
import {
  type AgentContext,
  createDefaultHttpClient,
  type Extensions,
  type HttpClient,
  type HttpHeaders,
} from "@parley/http";
import { answerResilience, resilienceFor } from "../../call/answer-resilience.js";
import { distinctEfforts, type Effort } from "../../call/distinct-efforts.js";
import { fileFormBy } from "../../call/file-rules.js";
import { unreadableAnswer } from "../../call/http-failure.js";
import { LoweredHistories, type LoweringState } from "../../call/lowered-history.js";
import { streamCall } from "../../call/stream-call.js";
import { readOpenAIFailure } from "../failure.js";
import { openAIFileRules } from "../file-rules.js";
import { effortFor, reasons } from "../reasoning-effort.js";
import type { ChatChunk, ChatMessage } from "./chat-api-types.js";
import { createChatFold } from "./chat-from-stream.js";
import { type ChatDialect, toChatRequest } from "./chat-to-request.js";
import { isSelfHosted } from "./self-hosted.js";

/** Configuration for a server with a chat completions API, and the features it supports. */
export interface OpenAIChatProviderAdapterConfig {
  /** Default `https://api.openai.com/v1`. For Ollama: `http://127.0.0.1:11434/v1`. */
  baseUrl?: string;
  /** Local servers need none. */
  apiKey?: string;
  /** Used if a call names no model. */
  defaultModel: string;
  /** Names the server in failures and telemetry if a call does not. Default `openai-compatible`. */
  provider?: string;
  /** The name in telemetry and policies. Default: the provider's. */
  clientName?: string;
  /** The client for all calls. Default: one that waits for a local server to load its model. */
  httpClient?: HttpClient;
  headers?: HttpHeaders;
  extensions?: Extensions;
  agentContextFactory?: () => AgentContext | undefined;
  /**
   * Number of times a call that failed inside its stream, before anything was visible, is retried. Default 2.
   */
  streamRetries?: number;
  /** Request usage with `stream_options`. Default true; some servers refuse the field. */
  includeUsage?: boolean;
  /** Default `max_tokens`; for OpenAI itself `max_completion_tokens`. */
  maxTokensField?: "max_tokens" | "max_completion_tokens";
  /**
   * Returns the fields that request an effort. Default: none, because servers refuse them for models that do
   * not reason; for OpenAI itself `reasoning_effort`.
   */
  effortParams?: ChatDialect["effortParams"];
  /** The field in which the server expects its own reasoning back. Default: it is not sent. */
  replayReasoning?: "reasoning_content" | "reasoning";
  /** Send `image_url` parts. Default true; set it to false for a model that only reads text. */
  sendsImages?: boolean;
  /** Send `file` parts. Default: for OpenAI itself. */
  sendsFiles?: boolean;
  /** True if the server supports `prompt_cache_key`. Default: for OpenAI itself. */
  sendsCacheKey?: boolean;
  /**
   * True if the server supports `response_format` with a JSON Schema, also together with tools. Default: for
   * OpenAI itself. Without it a model is offered a tool to return data with.
   */
  takesOutput?: boolean;
  /**
   * Treat a stream that ends with neither a finish reason nor `[DONE]` as a complete answer. Default false:
   * such an end is a failure, as it cannot be distinguished from a connection that was cut.
   */
  acceptUnmarkedEnd?: boolean;
  /**
   * Treat `<think>` tags at the start of an answer as reasoning: open models write them, and not every server
   * removes them. `opened`: the answer starts inside the tags, as with a template that writes the first one
   * itself. Default: true for self-hosted servers, judged by the address.
   */
  thinkTags?: boolean | "opened";
}

const openAIUrl = "https://api.openai.com/v1";

/** Any server with OpenAI's chat completions API: Ollama, vLLM, llama.cpp, OpenRouter, DeepSeek, Groq. */
export class OpenAIChatProviderAdapter implements ProviderAdapter {
  /** The client that all calls go through. */
  readonly http: HttpClient;
  readonly #config: OpenAIChatProviderAdapterConfig;
  readonly #dialect: ChatDialect;
  readonly #provider: string;
  readonly #histories = new LoweredHistories<ChatMessage, LoweringState>();

  constructor(config: OpenAIChatProviderAdapterConfig) {
    this.#config = config;
    this.#provider = config.provider ?? "openai-compatible";
    this.#dialect = dialectOf(config);
    this.http =
      config.httpClient ??
      createDefaultHttpClient({
        clientName: config.clientName ?? this.#provider,
        defaultResilience: answerResilience,
      });
  }

  async complete(params: ProviderCallParams): Promise<ProviderCallResult> {
    return collect(await this.completeStream(params));
  }

  efforts({ model, extraParams }: EffortQuery): readonly Effort[] {
    const asked = model || this.#config.defaultModel;
    return distinctEfforts((effort) => ({
      ...(effort === undefined ? {} : this.#dialect.effortParams(effort, asked)),
      ...extraParams,
    }));
  }

  takesOutput(): boolean {
    return this.#dialect.takesOutput;
  }

  takesFile(file: ProviderFile, model: string): FileForm {
    const { images, documents } = openAIFileRules(model || this.#config.defaultModel);
    const { sendsImages, sendsFiles } = this.#dialect;
    return fileFormBy(
      {
        ...(sendsImages && images !== undefined ? { images } : {}),
        ...(sendsFiles && documents !== undefined ? { documents } : {}),
      },
      file,
    );
  }

  async completeStream(params: ProviderCallParams): Promise<ProviderStream> {
    const config = this.#config;
    const provider = params.metadata.provider || this.#provider;
    const origin: MessageOrigin = { provider, model: params.metadata.model || config.defaultModel };
    const { body, names } = toChatRequest(params, origin, this.#dialect, this.#histories);
    const agentContext = params.agentContext ?? config.agentContextFactory?.();
    const startedAt = new Date();
    return streamCall<ChatChunk>({
      provider,
      http: this.http,
      request: {
        method: "POST",
        operation: "openai.chat.completions.create",
        urlParts: { baseUrl: config.baseUrl ?? openAIUrl, path: "/chat/completions" },
        headers: {
          ...(config.apiKey ? { Authorization: `Bearer ${config.apiKey}` } : {}),
          "Content-Type": "application/json",
          Accept: "text/event-stream",
          ...config.headers,
        },
        body,
        ...(config.httpClient === undefined ? resilienceFor(params.limits) : {}),
        extensions: {
          ...config.extensions,
          ...params.metadata.extensions,
          "ai.provider": provider,
          "ai.model": origin.model,
          "ai.operation": "chat.completions.create",
        },
        ...omitUndefined({ agentContext }),
      },
      createFold: () =>
        createChatFold({
          provider,
          origin,
          names,
          acceptUnmarkedEnd: config.acceptUnmarkedEnd ?? false,
          startedAt,
          thinkTags: config.thinkTags ?? isSelfHosted(config.baseUrl ?? openAIUrl),
        }),
      readFailure: readOpenAIFailure,
      eventsOfBody: (whole) => {
        const { choices, error } = whole as ChatChunk;
        if (!Array.isArray(choices) && error === undefined) {
          throw unreadableAnswer(provider, "it is not a chat completion");
        }
        return [whole as ChatChunk];
      },
      signal: params.signal,
      limits: params.limits,
      onRetry: params.onRetry,
      streamRetries: config.streamRetries,
    });
  }
}

function dialectOf(config: OpenAIChatProviderAdapterConfig): ChatDialect {
  const isOpenAI = (config.baseUrl ?? openAIUrl).startsWith("https://api.openai.com/");
  return {
    includeUsage: config.includeUsage ?? true,
    maxTokensField: config.maxTokensField ?? (isOpenAI ? "max_completion_tokens" : "max_tokens"),
    effortParams:
      config.effortParams ??
      ((effort, model) =>
        isOpenAI && reasons(model) ? { reasoning_effort: effortFor(model, effort) } : undefined),
    replayReasoning: config.replayReasoning,
    sendsImages: config.sendsImages ?? true,
    sendsFiles: config.sendsFiles ?? isOpenAI,
    sendsCacheKey: config.sendsCacheKey ?? isOpenAI,
    takesOutput: config.takesOutput ?? isOpenAI,
  };
}
