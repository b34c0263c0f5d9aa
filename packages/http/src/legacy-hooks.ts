import type { HttpClientConfig } from "./http-client-config.js";
import type { HttpRequestInterceptor } from "./ports.js";

/** Returns the interceptors of a client, with the older hooks of its configuration as the first one. */
export function withLegacyHooks(config: HttpClientConfig): readonly HttpRequestInterceptor[] {
  const { beforeRequest, afterResponse, interceptors = [] } = config;
  if (beforeRequest === undefined && afterResponse === undefined) return interceptors;
  return [
    {
      beforeSend: ({ request }) => beforeRequest?.(request),
      afterResponse: ({ request, response }) => afterResponse?.(request, response),
    },
    ...interceptors,
  ];
}
