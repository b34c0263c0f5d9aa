import {
  type AgentContext,
  createDefaultHttpClient,
  type Extensions,
  type HttpClient,
  type HttpHeaders,
} from "@parley/http";
import { answerResilience } from "../call/answer-resilience.js";
import { createResponsesClient, type OpenAIResponsesClient } from "./responses/responses-client.js";

/** Configuration for reaching the API. */
export interface OpenAIHttpClientConfig {
  /** Sent as a bearer token, and nowhere else. An empty one is not sent. */
  apiKey: string;
  /** Sent as `OpenAI-Organization`. */
  organizationId?: string;
  /** Sent as `OpenAI-Project`. */
  projectId?: string;
  /** Default `https://api.openai.com/v1`. */
  baseUrl?: string;
  /** The name in telemetry and policies. Default `openai`. */
  clientName?: string;
  /** The client for all calls. Default: one with safe limits for a model that thinks before it answers. */
  httpClient?: HttpClient;
  /** Annotations of every request; those of a call override them. */
  extensions?: Extensions;
  /** Returns the agent on whose behalf a request is made, if the call does not set one. */
  agentContextFactory?: () => AgentContext | undefined;
  /** Further headers of every request. */
  headers?: HttpHeaders;
  /**
   * Number of times a call that failed inside its stream, before anything was visible, is retried. Default 2.
   */
  streamRetries?: number;
}

/** The API's client: the underlying HTTP client, and the Responses API. */
export interface OpenAIHttpClient {
  readonly http: HttpClient;
  readonly responses: OpenAIResponsesClient;
}

/** Creates a client of the API. No policies are attached: to use some, pass an `httpClient` that has them. */
export function createOpenAIHttpClient(config: OpenAIHttpClientConfig): OpenAIHttpClient {
  const clientName = config.clientName ?? "openai";
  const http =
    config.httpClient ??
    createDefaultHttpClient({
      clientName,
      defaultResilience: answerResilience,
    });
  return { http, responses: createResponsesClient(config, http) };
}
