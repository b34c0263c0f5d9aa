import type { ProviderStream, ProviderStreamEvent } from "@parley/core/ports";
import { createDefaultHttpClient, type ResilienceProfile } from "@parley/http";
import { createNodeTransport } from "@parley/http/node";
import { type AnswerScript, type OpenAIHttpServer, startOpenAIHttpServer } from "@parley/testing/openai";
import { afterEach } from "vitest";

/** Servers for the tests of a file, each closed after its test. */
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
 * A client that repeats soon. It gives up soon only where that is asked for, which is for silence alone: on a busy
 * machine an answer may well take as long.
 */
export function testHttpClient(resilience: ResilienceProfile) {
  return createDefaultHttpClient({
    transport: createNodeTransport(),
    defaultResilience: { baseBackoffMs: 1, ...resilience },
  });
}

/** All events of a stream. */
export async function read(stream: ProviderStream): Promise<ProviderStreamEvent[]> {
  const events: ProviderStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

export function textIn(events: readonly ProviderStreamEvent[]): string {
  return events.map((event) => (event.type === "delta" ? event.textDelta : "")).join("");
}

/** The code of the error at the end, or the kind of the last event. */
export function codeOf(events: readonly ProviderStreamEvent[]): string | undefined {
  const last = events.at(-1);
  return last?.type === "error" ? last.error.code : last?.type;
}
