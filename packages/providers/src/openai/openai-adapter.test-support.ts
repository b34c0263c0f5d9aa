import type { ProviderStream, ProviderStreamEvent } from "@parley/core/ports";
import { createDefaultHttpClient, type ResilienceProfile } from "@parley/http";
import { createNodeTransport } from "@parley/http/node";
import { type AnswerScript, type OpenAIHttpServer, startOpenAIHttpServer } from "@parley/testing/openai";
import { afterEach } from "vitest";

/** Returns a function that starts servers for the tests of a file, each closed after its test. */
export function openAIServers(): (script: AnswerScript) => Promise<OpenAIHttpServer> {
  const servers: OpenAIHttpServer[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });
  return async (script) => {
    const server = await startOpenAIHttpServer(script);
    servers.push(server);
    return server;
  };
}

/**
 * Creates a client that retries soon. It times out soon only if requested, which is for stalls alone: on a
 * busy machine any answer may take as long.
 */
export function testHttpClient(resilience: ResilienceProfile) {
  return createDefaultHttpClient({
    transport: createNodeTransport(),
    defaultResilience: { baseBackoffMs: 1, ...resilience },
  });
}

/** Returns all events of a stream. */
export async function read(stream: ProviderStream): Promise<ProviderStreamEvent[]> {
  const events: ProviderStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

export function textIn(events: readonly ProviderStreamEvent[]): string {
  return events.map((event) => (event.type === "delta" ? event.textDelta : "")).join("");
}

/** Returns the code of the error at the end, or the type of the last event. */
export function codeOf(events: readonly ProviderStreamEvent[]): string | undefined {
  const last = events.at(-1);
  return last?.type === "error" ? last.error.code : last?.type;
}
