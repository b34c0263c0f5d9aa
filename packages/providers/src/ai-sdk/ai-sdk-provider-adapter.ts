import { ParleyError } from "@parley/core/errors";
import {
  collect,
  createProviderStream,
  type MessageOrigin,
  omitUndefined,
  onAbort,
  type ProviderStreamWriter,
  untilAborted,
} from "@parley/core/messages";
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
  type CallWarning,
  DownloadError,
  type LanguageModel,
  type ModelMessage,
  streamText,
  type ToolSet,
} from "ai";
import { anthropicFileRules } from "../anthropic/request/file-rules.js";
import { boundsFor, tooLarge } from "../call/answer-bounds.js";
import { distinctEfforts, type Effort } from "../call/distinct-efforts.js";
import { fileFormBy } from "../call/file-rules.js";
import { prepareMessages } from "../call/prepare-messages.js";
import { createToolNames, type ToolNames } from "../call/tool-names.js";
import { openAIFileRules } from "../openai/file-rules.js";
import { AnswerFold, type StreamPart } from "./answer/from-stream-part.js";
import { type ModelInstance, quietModel } from "./answer/quiet-model.js";
import { isAboutMessages, toCallError } from "./failure.js";
import { type ModelFamily, modelFamily, optionsKey } from "./model-family.js";
import { isFields, toProviderFields } from "./provider-options.js";
import { type CallSettings, callSettings, callTools, type SettingParams } from "./request/call-settings.js";
import { withoutLateThinking } from "./request/late-thinking.js";
import { toModelMessages } from "./request/to-model-messages.js";

type StreamTextOptions = Parameters<typeof streamText>[0];

/** Configuration for calling a model of the AI SDK. */
export interface AiSdkProviderAdapterConfig {
  /**
   * A model created by a provider's package, such as `openai("gpt-5")`. Not a string, which would name a
   * gateway's model.
   */
  model: LanguageModel;
  /** Options for every call, by provider, such as `{ openai: { serviceTier: "flex" } }`. */
  providerOptions?: Record<string, Record<string, unknown>>;
  /**
   * Tools that the provider runs itself, such as its web search. Tools of the host are passed with each call.
   */
  tools?: ToolSet;
  /**
   * Number of times the SDK retries a call that failed before its answer started. Default 0: see
   * `resilientFetch`.
   */
  maxRetries?: number;
  /**
   * Called with a provider's warnings about a call that it could not process as given. Default: they are
   * dropped.
   */
  onWarnings?: (warnings: readonly CallWarning[]) => void;
  /** Fetches files by URL for models that do not do it themselves. Default: the SDK's implementation. */
  download?: StreamTextOptions["experimental_download"];
}

/**
 * Any model of the AI SDK as a provider. Each call is one `streamText` of one step: tools are declared and
 * never run, so the caller keeps the loop. Metadata that a provider sent with a part is kept on the part and
 * sent back to the same provider and model only.
 */
export class AiSdkProviderAdapter implements ProviderAdapter {
  readonly #config: AiSdkProviderAdapterConfig;
  readonly #model: ModelInstance;

  constructor(config: AiSdkProviderAdapterConfig) {
    this.#config = config;
    this.#model = quietModel(modelInstance(config.model), config.onWarnings);
  }

  /**
   * Provider and model as the SDK names them: the origin of this adapter's messages, unless a call sets
   * another.
   */
  get origin(): MessageOrigin {
    return { provider: this.#model.provider, model: this.#model.modelId };
  }

  async complete(params: ProviderCallParams): Promise<ProviderCallResult> {
    return collect(await this.completeStream(params));
  }

  /** Applies the rules of the answering provider; a file that it is not known to refuse is sent. */
  takesFile(file: ProviderFile): FileForm {
    const isAnthropic = modelFamily(this.#model.provider) === "anthropic";
    return fileFormBy(isAnthropic ? anthropicFileRules : openAIFileRules(this.#model.modelId), file);
  }

  /** By the options that the rules of the provider make of an effort; others have none. */
  efforts({ extraParams }: EffortQuery): readonly Effort[] {
    return distinctEfforts(
      (effort) => this.#settings(omitUndefined({ reasoningEffort: effort, extraParams })).providerOptions,
    );
  }

  async completeStream(params: ProviderCallParams): Promise<ProviderStream> {
    const names = createToolNames((params.tools ?? []).map(({ name }) => name));
    return createProviderStream((writer) => this.#produce(params, names, writer), { signal: params.signal });
  }

  async #produce(params: ProviderCallParams, names: ToolNames, writer: ProviderStreamWriter): Promise<void> {
    const origin: MessageOrigin = {
      provider: params.metadata.provider || this.#model.provider,
      model: params.metadata.model || this.#model.modelId,
    };
    const family = modelFamily(this.#model.provider);
    const asFailure = (error: unknown) => toCallError(error, { provider: origin.provider, family });
    let attempt = await this.#attempt(params, { names, origin, family, plain: false }, writer);
    // Nothing was sent yet: content that the provider's package could not process is omitted or sent as text.
    if (attempt.error !== undefined && !attempt.started && isAboutMessages(attempt.error)) {
      const plainly = await this.#attempt(params, { names, origin, family, plain: true }, writer);
      if (plainly.error === undefined || !isAboutMessages(plainly.error)) attempt = plainly;
    }
    if (writer.signal.aborted) throw new ParleyError("canceled");
    if (attempt.error !== undefined) throw asFailure(attempt.error);
    writer.write({ type: "done", result: resultOf(attempt.fold, origin) });
  }

  async #attempt(params: ProviderCallParams, call: Call, writer: ProviderStreamWriter): Promise<Attempt> {
    const fold = new AnswerFold(call.names.fromSent);
    const attempt: Attempt = { fold, started: false, error: undefined };
    const { parts: mostParts } = boundsFor(params.limits);
    const source = new AbortController();
    // Without a reason: the SDK would throw any other reason instead of ending its stream.
    const stopListening = onAbort(writer.signal, () => source.abort());
    try {
      const { fullStream } = streamText(this.#options(params, call, source.signal));
      await readParts(fullStream, source.signal, (part) => {
        attempt.started ||= part.type === "start-step";
        let waiting: Promise<void> | undefined;
        fold.push(part, (event) => {
          waiting = writer.write(event) ?? waiting;
        });
        if (fold.parts > mostParts)
          throw tooLarge(call.origin.provider, `the answer has more than ${mostParts} parts`);
        return fold.failure === undefined ? waiting : "stop";
      });
      attempt.error = problemOf(fold);
    } catch (error) {
      attempt.error = error;
    } finally {
      stopListening();
      // Ends what is still in progress after a failure; after a complete answer there is nothing left to end.
      if (attempt.error !== undefined) source.abort();
    }
    return attempt;
  }

  #settings(params: SettingParams): CallSettings {
    const { provider, modelId } = this.#model;
    const model = { family: modelFamily(provider), key: optionsKey(provider), modelId };
    return callSettings(params, model, toProviderFields(this.#config.providerOptions));
  }

  #options(params: ProviderCallParams, call: Call, signal: AbortSignal): StreamTextOptions {
    const { download, maxRetries = 0, tools: own } = this.#config;
    const { names, family, plain } = call;
    const key = optionsKey(this.#model.provider);
    const said = this.#settings(params);
    const all = toModelMessages(prepareMessages(params.messages), {
      names,
      family,
      key,
      reader: call.origin,
      stored: said.providerOptions[key]?.store === true,
      plain,
    });
    const firstOther = all.findIndex(({ role }) => role !== "system");
    const leading = firstOther < 0 ? all.length : firstOther;
    const system = all.slice(0, leading).filter((message) => message.role === "system");
    const messages = asked(all.slice(leading));
    return {
      ...said.settings,
      model: this.#model,
      ...(system.length === 0 ? {} : { system }),
      messages,
      // Mid-conversation instructions come from the host's own log.
      allowSystemInMessages: true,
      ...callTools(params, { names, family, own, messages }),
      providerOptions: withoutLateThinking(said.providerOptions, { family, key, messages }),
      maxRetries,
      abortSignal: signal,
      // The default handler prints to the console.
      onError: () => {},
      experimental_include: { requestBody: false },
      ...(download === undefined ? {} : { experimental_download: failingAsDownload(download) }),
    };
  }
}

/** Returns the model itself; refuses models that would not be called through their provider's package. */
function modelInstance(model: LanguageModel): ModelInstance {
  if (typeof model === "string") {
    throw new ParleyError(
      "model_unavailable",
      `"${model}" is a name, not a model: the AI SDK would send it to a gateway. Pass an instance, such as openai("${model}")`,
    );
  }
  if (!isFields(model) || typeof model.doStream !== "function") {
    throw new ParleyError("model_unavailable", "Pass a model of the AI SDK, with doStream");
  }
  return model;
}

interface Call {
  readonly names: ToolNames;
  readonly origin: MessageOrigin;
  readonly family: ModelFamily;
  readonly plain: boolean;
}

interface Attempt {
  readonly fold: AnswerFold;
  /** True once the provider has answered. */
  started: boolean;
  error: unknown;
}

/** Returns why an answer that was read to its end is not valid. */
function problemOf(fold: AnswerFold): unknown {
  if (fold.failure !== undefined) return fold.failure.error;
  if (fold.aborted) return new ParleyError("canceled");
  if (fold.ending === undefined || fold.ending.cutOff) {
    return new ParleyError("network", "The model's stream ended before its last event");
  }
  if (fold.ending.finishReason === "error") {
    return new ParleyError("provider_rejected", "The provider ended its answer with an error");
  }
  return undefined;
}

function resultOf(fold: AnswerFold, origin: MessageOrigin): ProviderCallResult {
  const { id, timestamp, usage, billed, finishReason } = fold.ending ?? {};
  const toolCalls = fold.calls();
  return {
    id: id ?? "",
    createdAt: timestamp ?? new Date(),
    message: { role: "assistant", content: fold.content(true), origin },
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...omitUndefined({ usage, billed, finishReason }),
  };
}

type Download = NonNullable<StreamTextOptions["experimental_download"]>;

/**
 * Wraps a host's download function so that its failures are recognizable: the call continues without the
 * file.
 */
function failingAsDownload(download: Download): Download {
  return async (requests) => {
    if (requests.length === 0) return [];
    try {
      return await download(requests);
    } catch (cause) {
      throw new DownloadError({ url: requests[0]?.url.href ?? "", cause });
    }
  };
}

const opening = "[The conversation begins here.]";
const closing = "Continue.";

/** Returns messages that start and end with the user, as many models require: the user asks for an answer. */
function asked(messages: readonly ModelMessage[]): ModelMessage[] {
  const first = messages[0]?.role === "assistant" ? [{ role: "user", content: opening } as const] : [];
  const last = messages.at(-1)?.role;
  const isAsked = last === "user" || last === "tool";
  return [...first, ...messages, ...(isAsked ? [] : [{ role: "user", content: closing } as const])];
}

/**
 * Passes on the parts of a stream until it ends, `take` stops it or the signal aborts. An abort ends the
 * reading at once, whether or not the model reacts to it.
 */
async function readParts(
  stream: AsyncIterable<StreamPart>,
  signal: AbortSignal,
  take: (part: StreamPart) => Promise<void> | "stop" | undefined,
): Promise<void> {
  const parts = stream[Symbol.asyncIterator]();
  let over = false;
  const read = async () => {
    for (let next = await parts.next(); !next.done && !over; next = await parts.next()) {
      const wait = take(next.value);
      if (wait === "stop") return;
      if (wait !== undefined) await wait;
    }
  };
  try {
    await untilAborted(read(), signal);
  } finally {
    over = true;
    void parts.return?.().then(undefined, () => {});
  }
}
