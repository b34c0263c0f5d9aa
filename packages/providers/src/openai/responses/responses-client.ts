import type { ParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { HttpClient, HttpHeaders, HttpRequestOptions } from "@parley/http";
import { resilienceFor } from "../../call/answer-resilience.js";
import { unreadableAnswer } from "../../call/http-failure.js";
import { LoweredHistories } from "../../call/lowered-history.js";
import { streamCall } from "../../call/stream-call.js";
import { readOpenAIFailure } from "../failure.js";
import type { OpenAIHttpClientConfig } from "../openai-http-client.js";
import type { ResponseBody, ResponsesBody, ResponsesEvent } from "./api-types.js";
import type { CreateResponseOptions, CreateResponseRequest } from "./create-response.js";
import { createResponsesFold } from "./from-stream.js";
import { type OpenAIResponseObject, type OpenAIResponseStream, toResponseStream } from "./response-object.js";
import { type LowerRequest, toRequest } from "./to-request.js";

const defaultBaseUrl = "https://api.openai.com/v1";

/** The Responses API, in one piece or as a stream. Both are read by the same code. */
export interface OpenAIResponsesClient {
  /** Requests the whole answer at once, without `stream`. Rejects with a `ParleyError`. */
  create(request: CreateResponseRequest, options?: CreateResponseOptions): Promise<OpenAIResponseObject>;
  createStream?(
    request: CreateResponseRequest,
    options?: CreateResponseOptions,
  ): Promise<OpenAIResponseStream>;
}

export function createResponsesClient(
  config: OpenAIHttpClientConfig,
  http: HttpClient,
): Required<OpenAIResponsesClient> {
  const histories: LowerRequest["histories"] = new LoweredHistories();
  return {
    createStream: async (request, options = {}) =>
      openCall(config, http, { request, options, stream: true, histories }),
    create: async (request, options = {}) =>
      openCall(config, http, { request, options, stream: false, histories }).final,
  };
}

/** One call of the client, in either form. */
interface ResponsesCall {
  readonly request: CreateResponseRequest;
  readonly options: CreateResponseOptions;
  readonly stream: boolean;
  readonly histories: LowerRequest["histories"];
}

function openCall(
  config: OpenAIHttpClientConfig,
  http: HttpClient,
  { request: given, options, stream, histories }: ResponsesCall,
): OpenAIResponseStream {
  const previousResponseId = given.previousResponseId ?? options.conversationState?.lastResponseId;
  const request = previousResponseId === undefined ? given : { ...given, previousResponseId };
  const origin = options.origin ?? { provider: "openai", model: request.model };
  const how = { stream, isOpenAI: isOpenAI(config.baseUrl ?? defaultBaseUrl) };
  const { body, names } = toRequest(request, {
    ...how,
    reader: origin,
    ...omitUndefined({ histories }),
  });
  const startedAt = new Date();
  const events = streamCall<ResponsesEvent>({
    provider: origin.provider,
    http,
    request: httpRequest(config, options, body),
    createFold: () =>
      createResponsesFold({
        provider: origin.provider,
        origin,
        names,
        markResponse: options.conversationState !== undefined || previousResponseId !== undefined,
        startedAt,
      }),
    readFailure: readOpenAIFailure,
    eventsOfBody: (whole) => {
      const response = whole as ResponseBody;
      const { output, status, error } = response;
      if (!Array.isArray(output) && status === undefined && error === undefined) {
        throw unreadableAnswer(origin.provider, "it is not a response");
      }
      return [{ type: "response.completed", response }];
    },
    recover: (error) =>
      isUnreadable(error)
        ? httpRequest(config, options, toRequest(request, { ...how, reader: undefined }).body)
        : undefined,
    signal: options.signal,
    limits: options.limits,
    onRetry: options.onRetry,
    streamRetries: config.streamRetries,
  });
  return toResponseStream(events, request.model);
}

/**
 * Returns true if the API cannot read the reasoning sent back to it: made under another account, or too long
 * ago.
 */
function isUnreadable(error: ParleyError): boolean {
  return error.details?.reason === "invalid_encrypted_content";
}

function isOpenAI(baseUrl: string): boolean {
  return baseUrl.startsWith("https://api.openai.com/");
}

function httpRequest(
  config: OpenAIHttpClientConfig,
  options: CreateResponseOptions,
  body: ResponsesBody,
): Omit<HttpRequestOptions, "signal"> {
  const tenant = config.organizationId ?? config.projectId;
  const agentContext = options.agentContext ?? config.agentContextFactory?.();
  return {
    method: "POST",
    operation: "openai.responses.create",
    urlParts: { baseUrl: config.baseUrl ?? defaultBaseUrl, path: "/responses" },
    headers: headersOf(config, body.stream === true),
    body,
    ...(config.httpClient === undefined ? resilienceFor(options.limits) : {}),
    extensions: {
      ...config.extensions,
      ...options.extensions,
      "ai.provider": "openai",
      "ai.model": body.model,
      "ai.operation": "responses.create",
      ...(tenant === undefined ? {} : { "ai.tenant": tenant }),
    },
    ...omitUndefined({ agentContext }),
  };
}

function headersOf(
  { apiKey, organizationId, projectId, headers }: OpenAIHttpClientConfig,
  stream: boolean,
): HttpHeaders {
  return {
    ...(apiKey === "" ? {} : { Authorization: `Bearer ${apiKey}` }),
    "Content-Type": "application/json",
    Accept: stream ? "text/event-stream" : "application/json",
    ...(organizationId === undefined ? {} : { "OpenAI-Organization": organizationId }),
    ...(projectId === undefined ? {} : { "OpenAI-Project": projectId }),
    ...headers,
  };
}
