import { collect, createProviderStream, type MessageOrigin } from "@parley/core/messages";
import type {
  EffortQuery,
  FileForm,
  ProviderAdapter,
  ProviderCallParams,
  ProviderCallResult,
  ProviderFile,
  ProviderOutput,
  ProviderStream,
} from "@parley/core/ports";
import { distinctEfforts, type Effort } from "../call/distinct-efforts.js";
import { fileFormBy } from "../call/file-rules.js";
import { unreadableAnswer } from "../call/http-failure.js";
import { LoweredHistories } from "../call/lowered-history.js";
import { streamCall } from "../call/stream-call.js";
import type { ToolNames } from "../call/tool-names.js";
import { createMessageFold, type MessageFold, type PausedAnswer } from "./answer/from-stream.js";
import {
  type AnthropicHttpClient,
  type AnthropicHttpClientConfig,
  createAnthropicHttpClient,
} from "./anthropic-http-client.js";
import type { CacheControl, MessageParam, MessagesBody, MessagesEvent } from "./api-types.js";
import { readAnthropicFailure } from "./failure.js";
import { anthropicFileRules } from "./request/file-rules.js";
import type { MessagesState, UnsendableArguments } from "./request/lower-messages.js";
import { takesFormat } from "./request/output-format.js";
import { thinkingFields } from "./request/thinking.js";
import { tokensOf, toRequest } from "./request/to-request.js";

/** Settings for calling the API. */
export interface AnthropicAdapterSettings {
  /** Used if a call names no model. */
  defaultModel: string;
  /** Maximum number of tokens of an answer, if a call sets none. Default: the model's maximum. */
  maxTokens?: number;
  /** Time that the API caches the start of a request; false for no caching. Default `5m`. */
  promptCache?: "5m" | "1h" | false;
  /**
   * Called with the calls of a history whose arguments are not a JSON object, and were sent as plain text.
   */
  onUnsendableArguments?: (calls: readonly UnsendableArguments[]) => void;
  /**
   * Number of times a call that failed inside its stream, before anything was visible, is retried. Default 2.
   */
  streamRetries?: number;
}

/** The settings with a client, or with the configuration of one. */
export type AnthropicProviderAdapterConfig = AnthropicAdapterSettings &
  ({ client: AnthropicHttpClient } | AnthropicHttpClientConfig);

/** Number of times one call continues an answer that the API has paused. */
const mostContinuations = 8;

/** The Anthropic Messages API as a provider. */
export class AnthropicProviderAdapter implements ProviderAdapter {
  readonly #settings: AnthropicAdapterSettings;
  readonly #client: AnthropicHttpClient;
  readonly #histories = new LoweredHistories<MessageParam, MessagesState>();

  constructor(config: AnthropicProviderAdapterConfig) {
    this.#settings = config;
    this.#client = "client" in config ? config.client : createAnthropicHttpClient(config);
  }

  async complete(params: ProviderCallParams): Promise<ProviderCallResult> {
    return collect(await this.completeStream(params));
  }

  async completeStream(params: ProviderCallParams): Promise<ProviderStream> {
    const { defaultModel, maxTokens, promptCache = "5m", onUnsendableArguments } = this.#settings;
    const origin: MessageOrigin = {
      provider: params.metadata.provider || "anthropic",
      model: params.metadata.model || defaultModel,
    };
    const cache: CacheControl | undefined =
      promptCache === false
        ? undefined
        : { type: "ephemeral", ...(promptCache === "1h" ? { ttl: promptCache } : {}) };
    const { body, names, unsendable } = toRequest(params, {
      reader: origin,
      maxTokens,
      cache,
      histories: this.#histories,
    });
    if (unsendable.length > 0) onUnsendableArguments?.(unsendable);
    const call: Call = { body, names, origin };
    // Without a possible pause, deltas pass through one stream fewer.
    if (!mayPause(body)) return this.#request(params, call, params.signal, undefined).stream;
    return this.#continuing(params, call);
  }

  efforts({ model, maxTokens, extraParams }: EffortQuery): readonly Effort[] {
    const asked = model || this.#settings.defaultModel;
    const most = tokensOf(extraParams?.max_tokens ?? maxTokens ?? this.#settings.maxTokens, asked);
    return distinctEfforts((effort) => ({ ...thinkingFields(asked, effort, most), ...extraParams }));
  }

  takesOutput(output: ProviderOutput, model: string): boolean {
    return takesFormat(output, model || this.#settings.defaultModel);
  }

  takesFile(file: ProviderFile): FileForm {
    return fileFormBy(anthropicFileRules, file);
  }

  /** Returns the answer as one stream, continuing it wherever the API paused. */
  #continuing(params: ProviderCallParams, call: Call): ProviderStream {
    return createProviderStream(
      async ({ write, signal }) => {
        let before: PausedAnswer | undefined;
        for (let requests = 1; ; requests += 1) {
          const { stream, fold } = this.#request(params, call, signal, before);
          for await (const event of stream) {
            const paused = event.type === "done" ? fold().paused : undefined;
            if (paused !== undefined && requests <= mostContinuations) {
              before = paused;
              break;
            }
            const wait = write(event);
            if (event.type === "done" || event.type === "error") return;
            if (wait !== undefined) await wait;
          }
        }
      },
      { signal: params.signal },
    );
  }

  #request(
    params: ProviderCallParams,
    { body, names, origin }: Call,
    signal: AbortSignal | undefined,
    before: PausedAnswer | undefined,
  ): { stream: ProviderStream; fold: () => MessageFold } {
    const startedAt = new Date();
    const createFold = () =>
      createMessageFold({ provider: origin.provider, origin, names, startedAt, before });
    let current = createFold();
    const stream = streamCall<MessagesEvent>({
      provider: origin.provider,
      http: this.#client.http,
      request: this.#client.messagesRequest(before === undefined ? body : continued(body, before), {
        extensions: params.metadata.extensions,
        agentContext: params.agentContext,
        limits: params.limits,
      }),
      createFold: () => {
        current = createFold();
        return current;
      },
      readFailure: readAnthropicFailure,
      eventsOfBody: (whole) => {
        // The API streams when asked to; a response in one piece can only be a failure.
        const { type } = whole as MessagesEvent;
        if (type !== "error") throw unreadableAnswer(origin.provider, "it is not an event stream");
        return [whole as MessagesEvent];
      },
      signal,
      limits: params.limits,
      onRetry: params.onRetry,
      streamRetries: this.#settings.streamRetries,
    });
    return { stream, fold: () => current };
  }
}

interface Call {
  readonly body: MessagesBody;
  readonly names: ToolNames;
  readonly origin: MessageOrigin;
}

/**
 * Returns true if the API may pause: only if it runs tools itself, which have their own type or come from a
 * server.
 */
function mayPause({ tools, mcp_servers: servers }: MessagesBody): boolean {
  if (servers !== undefined) return true;
  return Array.isArray(tools) && tools.some(({ type = "custom" }: { type?: unknown }) => type !== "custom");
}

function continued(body: MessagesBody, { content }: PausedAnswer): MessagesBody {
  return { ...body, messages: [...body.messages, { role: "assistant", content }] };
}
