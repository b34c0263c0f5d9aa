import type { ParleyError } from "@parley/core/errors";
import type { HttpClient, HttpHeaders, HttpRequestOptions } from "@parley/http";
import { streamCall } from "../../call/stream-call.js";
import { readOpenAIFailure } from "../failure.js";
import type { OpenAIHttpClientConfig } from "../openai-http-client.js";
import type { ResponseBody, ResponsesBody, ResponsesEvent } from "./api-types.js";
import type { CreateResponseOptions, CreateResponseRequest } from "./create-response.js";
import { createResponsesFold } from "./from-stream.js";
import { type OpenAIResponseObject, type OpenAIResponseStream, toResponseStream } from "./response-object.js";
import { toRequest } from "./to-request.js";

const defaultBaseUrl = "https://api.openai.com/v1";

/** The Responses API. One path: `create` collects what `createStream` streams. */
export interface OpenAIResponsesClient {
  /** Rejects with a `ParleyError`. */
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
  const createStream = async (request: CreateResponseRequest, options: CreateResponseOptions = {}) =>
    openStream(config, http, request, options);
  return {
    createStream,
    create: async (request, options) => (await createStream(request, options)).final,
  };
}

function openStream(
  config: OpenAIHttpClientConfig,
  http: HttpClient,
  given: CreateResponseRequest,
  options: CreateResponseOptions,
): OpenAIResponseStream {
  const previousResponseId = given.previousResponseId ?? options.conversationState?.lastResponseId;
  const request = previousResponseId === undefined ? given : { ...given, previousResponseId };
  const origin = options.origin ?? { provider: "openai", model: request.model };
  const { body, names } = toRequest(request, { reader: origin });
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
    eventsOfBody: (whole) => [{ type: "response.completed", response: whole as ResponseBody }],
    recover: (error) =>
      isUnreadable(error)
        ? httpRequest(config, options, toRequest(request, { reader: undefined }).body)
        : undefined,
    signal: options.signal,
    streamRetries: config.streamRetries,
  });
  return toResponseStream(events, request.model);
}

/** The API cannot read the reasoning that it is given back: made under another account, or too long ago. */
function isUnreadable(error: ParleyError): boolean {
  return error.details?.reason === "invalid_encrypted_content";
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
    headers: headersOf(config),
    body,
    extensions: {
      ...config.extensions,
      ...options.extensions,
      "ai.provider": "openai",
      "ai.model": body.model,
      "ai.operation": "responses.create",
      ...(tenant === undefined ? {} : { "ai.tenant": tenant }),
    },
    ...(agentContext === undefined ? {} : { agentContext }),
  };
}

function headersOf({ apiKey, organizationId, projectId, headers }: OpenAIHttpClientConfig): HttpHeaders {
  return {
    ...(apiKey === "" ? {} : { Authorization: `Bearer ${apiKey}` }),
    "Content-Type": "application/json",
    Accept: "text/event-stream",
    ...(organizationId === undefined ? {} : { "OpenAI-Organization": organizationId }),
    ...(projectId === undefined ? {} : { "OpenAI-Project": projectId }),
    ...headers,
  };
}
