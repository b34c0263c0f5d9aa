import { ParleyError } from "@parley/core/errors";
import {
  createProviderStream,
  type MessageOrigin,
  omitUndefined,
  streamOf,
  TextDelta,
} from "@parley/core/messages";
import type {
  EffortQuery,
  FileForm,
  ProviderAdapter,
  ProviderCallParams,
  ProviderCallResult,
  ProviderFile,
  ProviderStream,
  ProviderToolDefinition,
} from "@parley/core/ports";
import { distinctEfforts, type Effort } from "../../call/distinct-efforts.js";
import { fileFormBy } from "../../call/file-rules.js";
import { openAIFileRules } from "../file-rules.js";
import type { OpenAIHttpClient } from "../openai-http-client.js";
import { jsonSchemaFormat } from "../output-format.js";
import { effortFor, reasons } from "../reasoning-effort.js";
import type {
  CreateResponseOptions,
  CreateResponseRequest,
  OpenAIConversationState,
  OpenAIFunctionTool,
} from "./create-response.js";
import { toInputMessages } from "./input-parts.js";
import { fromResponseObject, type OpenAIResponseStream } from "./response-object.js";
import { lowerExtra } from "./to-request.js";

/** Configuration for calling the API. */
export interface OpenAIProviderAdapterConfig {
  client: OpenAIHttpClient;
  /** Used if a call names no model. */
  defaultModel: string;
  /**
   * Returns the state of a chain of responses. With it the API stores the conversation and is sent only what
   * it has not seen; without it every call sends the whole history and the API stores nothing.
   */
  getConversationState?: () => OpenAIConversationState | undefined;
  /** Called with the new state after each successful call. */
  setConversationState?: (state: OpenAIConversationState) => void;
  /** The reasoning summaries to request from a model; false for none. Default `auto`. */
  reasoningSummary?: "auto" | "concise" | "detailed" | false;
  /** Returns true if a model accepts `reasoning`. Default: judged by its name. */
  takesReasoning?: (model: string) => boolean;
}

/** The OpenAI Responses API as a provider. */
export class OpenAIProviderAdapter implements ProviderAdapter {
  readonly #config: OpenAIProviderAdapterConfig;

  constructor(config: OpenAIProviderAdapterConfig) {
    this.#config = config;
  }

  /** Requests the whole answer at once, as models that may not be streamed require. */
  async complete(params: ProviderCallParams): Promise<ProviderCallResult> {
    const { client, setConversationState } = this.#config;
    const { request, options, state } = this.#call(params);
    const result = fromResponseObject(await client.responses.create(request, options));
    setConversationState?.({ ...state, lastResponseId: result.id });
    return result;
  }

  async completeStream(params: ProviderCallParams): Promise<ProviderStream> {
    const { client, setConversationState } = this.#config;
    const { request, options, state } = this.#call(params);
    const stream =
      client.responses.createStream === undefined
        ? streamOf(client.responses.create(request, options).then(fromResponseObject))
        : eventsOf(await client.responses.createStream(request, options));
    if (setConversationState === undefined) return stream;
    return afterwards(stream, ({ id }) => setConversationState({ ...state, lastResponseId: id }));
  }

  efforts({ model, extraParams }: EffortQuery): readonly Effort[] {
    const asked = model || this.#config.defaultModel;
    return distinctEfforts(
      (effort) =>
        this.#extraParams(omitUndefined({ reasoningEffort: effort, extraParams }), asked, false).reasoning,
    );
  }

  takesOutput(): boolean {
    return true;
  }

  takesFile(file: ProviderFile, model: string): FileForm {
    return fileFormBy(openAIFileRules(model || this.#config.defaultModel), file);
  }

  #call(params: ProviderCallParams) {
    const { defaultModel, getConversationState, setConversationState } = this.#config;
    const model = params.metadata.model || defaultModel;
    const origin: MessageOrigin = { provider: params.metadata.provider || "openai", model };
    const state = getConversationState?.();
    const chains = getConversationState !== undefined || setConversationState !== undefined;
    const previousResponseId = state?.lastResponseId;
    const request: CreateResponseRequest = {
      ...this.#request(params, model, chains),
      ...omitUndefined({ previousResponseId }),
    };
    const options: CreateResponseOptions = {
      origin,
      ...omitUndefined({ agentContext: params.agentContext, extensions: params.metadata.extensions }),
      ...(chains ? { conversationState: state ?? {} } : {}),
      ...omitUndefined({ signal: params.signal, limits: params.limits, onRetry: params.onRetry }),
    };
    return { request, options, state };
  }

  #request(params: ProviderCallParams, model: string, chains: boolean): CreateResponseRequest {
    const { tools, toolChoice, maxTokens } = params;
    return {
      model,
      input: toInputMessages(params.messages),
      ...(tools === undefined || tools.length === 0 ? {} : { tools: tools.map(toFunctionTool) }),
      ...omitUndefined({ toolChoice, maxOutputTokens: maxTokens }),
      ...(chains ? {} : { store: false }),
      extraParams: this.#extraParams(params, model, chains),
    };
  }

  /**
   * Merges the caller's fields over the derived ones; one member of `reasoning` or `text` leaves the others
   * as derived.
   */
  #extraParams(params: DerivingParams, model: string, chains: boolean): Record<string, unknown> {
    const derived = this.#derivedParams(params, model, chains);
    const extra = lowerExtra(params.extraParams);
    return {
      ...derived,
      ...extra,
      ...merged("reasoning", derived, extra),
      ...merged("text", derived, extra),
    };
  }

  #derivedParams(params: DerivingParams, model: string, chains: boolean): Record<string, unknown> {
    const { reasoningSummary = "auto", takesReasoning = reasons } = this.#config;
    const { cacheKey, reasoningEffort, output } = params;
    const derived: Record<string, unknown> = {};
    if (output !== undefined) {
      derived.text = { format: { type: "json_schema", ...jsonSchemaFormat(output) } };
    }
    if (cacheKey !== undefined) derived.prompt_cache_key = cacheKey;
    if (!takesReasoning(model)) return derived;
    // The API stores nothing, so reasoning must be returned encrypted to be available in the next step.
    if (!chains) derived.include = ["reasoning.encrypted_content"];
    if (reasoningEffort !== undefined) {
      derived.reasoning = {
        effort: effortFor(model, reasoningEffort),
        ...(reasoningSummary === false ? {} : { summary: reasoningSummary }),
      };
    }
    return derived;
  }
}

type DerivingParams = Pick<ProviderCallParams, "cacheKey" | "extraParams" | "output" | "reasoningEffort">;
type Fields = Readonly<Record<string, unknown>>;

function merged(name: string, derived: Fields, extra: Fields): Fields {
  const given = extra[name];
  if (typeof given !== "object" || given === null) return {};
  return { [name]: { ...(derived[name] as object | undefined), ...given } };
}

function toFunctionTool({ name, description, schema }: ProviderToolDefinition): OpenAIFunctionTool {
  return {
    type: "function",
    name,
    ...omitUndefined({ description }),
    parameters: schema,
  };
}

/** Returns core's events of a response stream; derived from its own if a client provides no others. */
function eventsOf(stream: OpenAIResponseStream): ProviderStream {
  if (stream.events !== undefined) return stream.events;
  return createProviderStream(async ({ write }) => {
    let text = "";
    for await (const event of stream) {
      if (event.type === "text-delta") {
        text += event.textDelta;
        await write(new TextDelta(event.textDelta, text));
      } else if (event.type === "tool-call") {
        await write({ type: "tool-call", toolCall: event.toolCall });
      } else {
        await write({ type: "done", result: fromResponseObject(event.result) });
        return;
      }
    }
    throw new ParleyError("network", "openai: the stream ended before its last event");
  });
}

/** Wraps the stream so that `then` runs once it has succeeded and before any reader sees the result. */
function afterwards(stream: ProviderStream, then: (result: ProviderCallResult) => void): ProviderStream {
  let final: Promise<ProviderCallResult> | undefined;
  let called = false;
  const callOnce = (result: ProviderCallResult) => {
    if (!called) then(result);
    called = true;
    return result;
  };
  return {
    get final() {
      final ??= stream.final.then(callOnce);
      final.catch(() => {});
      return final;
    },
    async *[Symbol.asyncIterator]() {
      for await (const event of stream) {
        if (event.type === "done") callOnce(event.result);
        yield event;
      }
    },
  };
}
