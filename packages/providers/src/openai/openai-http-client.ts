import {
  type AgentContext,
  createDefaultHttpClient,
  type Extensions,
  type HttpClient,
  type HttpHeaders,
} from "@parley/http";
import { answerResilience } from "../call/answer-resilience.js";
import { createResponsesClient, type OpenAIResponsesClient } from "./responses/responses-client.js";

/** How to reach the API. */
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
  /** The client for all calls. Default: one with safe limits for a model that thinks before it speaks. */
  httpClient?: HttpClient;
  /** Annotations of every request; those of a call win. */
  extensions?: Extensions;
  /** On whose behalf a request is made, where the call does not say. */
  agentContextFactory?: () => AgentContext | undefined;
  /** Further headers of every request. */
  headers?: HttpHeaders;
  /** How often a call that failed inside its stream, before anything was visible, is made again. Default 2. */
  streamRetries?: number;
}

/** The API's client: the HTTP client that it calls through, and the Responses API. */
export interface OpenAIHttpClient {
  readonly http: HttpClient;
  readonly responses: OpenAIResponsesClient;
}

/** A client of the API. No policies are attached: whoever wants some gives an `httpClient` that has them. */
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
