import { DefaultHttpClient, type HttpClient } from "./http-client.js";
import type { HttpClientConfig } from "./http-client-config.js";
import type { ResilienceProfile } from "./resilience/resilience.js";

/** Settings that suit most services; the config overrides them. */
const SAFE_DEFAULTS = {
  maxAttempts: 3,
  perAttemptTimeoutMs: 60_000,
  stallTimeoutMs: 60_000,
} satisfies ResilienceProfile;

/**
 * Creates a client with safe defaults: three attempts, a minute for each attempt, a minute of silence in a
 * body, no overall deadline.
 */
export function createDefaultHttpClient(config: Partial<HttpClientConfig> = {}): HttpClient {
  return new DefaultHttpClient({
    ...config,
    clientName: config.clientName ?? "http",
    defaultResilience: { ...SAFE_DEFAULTS, ...config.defaultResilience },
  });
}
