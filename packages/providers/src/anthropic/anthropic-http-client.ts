import { omitUndefined } from "@parley/core/messages";
import type { AnswerLimits } from "@parley/core/ports";
import {
  type AgentContext,
  createDefaultHttpClient,
  type Extensions,
  type HttpClient,
  type HttpHeaders,
  type HttpRequestOptions,
} from "@parley/http";
import { answerResilience, resilienceFor } from "../call/answer-resilience.js";
import type { MessagesBody } from "./api-types.js";

/** Configuration for reaching the API. */
export interface AnthropicHttpClientConfig {
  /** Sent in the header that the version requires, and nowhere else. An empty one is not sent. */
  apiKey: string;
  /** Default `https://api.anthropic.com/v1`. */
  baseUrl?: string;
  /** The version of the API, sent as `anthropic-version`. Default `2023-06-01`. */
  version?: string;
  /** Features that are not generally available, sent as `anthropic-beta`. */
  betas?: readonly string[];
  /** The name in telemetry and policies. Default `anthropic`. */
  clientName?: string;
  /** The client for all calls. Default: one with safe limits for a model that thinks before it answers. */
  httpClient?: HttpClient;
  /** Annotations of every request; those of a call override them. */
  extensions?: Extensions;
  /** Returns the agent on whose behalf a request is made, if the call does not set one. */
  agentContextFactory?: () => AgentContext | undefined;
  /** Further headers of every request. */
  headers?: HttpHeaders;
}

/** Settings of a single request, added to the client's own. */
export interface MessagesRequestOptions {
  extensions?: Extensions | undefined;
  agentContext?: AgentContext | undefined;
  /** The caller's limits for the answer; see `ProviderCallParams.limits`. */
  limits?: AnswerLimits | undefined;
}

/** The API's client: the underlying HTTP client, and the requests sent through it. */
export interface AnthropicHttpClient {
  readonly http: HttpClient;
  /**
   * Creates the request that streams the answer to a body, with the headers and annotations of this client.
   */
  messagesRequest(body: MessagesBody, options?: MessagesRequestOptions): HttpRequestOptions;
}

const defaultBaseUrl = "https://api.anthropic.com/v1";
const defaultVersion = "2023-06-01";
/** The first version in which the key is a bearer token. Versions are dates, so they compare as strings. */
const firstBearerVersion = "2026-10-21";

/** Creates a client of the API. No policies are attached: to use some, pass an `httpClient` that has them. */
export function createAnthropicHttpClient(config: AnthropicHttpClientConfig): AnthropicHttpClient {
  // The API itself sends a ping now and then, so silence for minutes means a dead connection. Other servers
  // may not.
  const deadConnection = config.baseUrl === undefined ? { stallTimeoutMs: 120_000 } : {};
  const patience = (limits: AnswerLimits | undefined) => {
    const { resilience } = resilienceFor(limits);
    return resilience === undefined ? {} : { resilience: { ...resilience, ...deadConnection } };
  };
  const http =
    config.httpClient ??
    createDefaultHttpClient({
      clientName: config.clientName ?? "anthropic",
      defaultResilience: { ...answerResilience, ...deadConnection },
    });
  return {
    http,
    messagesRequest(body, { extensions, agentContext, limits } = {}) {
      const context = agentContext ?? config.agentContextFactory?.();
      return {
        operation: "anthropic.messages.create",
        method: "POST",
        urlParts: { baseUrl: config.baseUrl ?? defaultBaseUrl, path: "/messages" },
        headers: headersOf(config),
        body,
        ...(config.httpClient === undefined ? patience(limits) : {}),
        extensions: {
          "ai.provider": "anthropic",
          "ai.model": body.model,
          "ai.operation": "messages.create",
          ...config.extensions,
          ...extensions,
        },
        ...omitUndefined({ agentContext: context }),
      };
    },
  };
}

function headersOf({ apiKey, version = defaultVersion, betas = [], headers }: AnthropicHttpClientConfig) {
  const key: HttpHeaders =
    apiKey === ""
      ? {}
      : version >= firstBearerVersion
        ? { authorization: `Bearer ${apiKey}` }
        : { "x-api-key": apiKey };
  return {
    ...key,
    "content-type": "application/json",
    accept: "text/event-stream",
    "anthropic-version": version,
    ...(betas.length === 0 ? {} : { "anthropic-beta": betas.join(",") }),
    ...headers,
  };
}
