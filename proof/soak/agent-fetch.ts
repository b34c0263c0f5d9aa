import { type Agent, type AgentOptions, request } from "node:http";
import { Readable } from "node:stream";

/** An idle connection is closed before the server does it: otherwise a request could hit it while it closes. */
export const agentOptions: AgentOptions = { keepAlive: true, timeout: 1_000 };

/**
 * Creates a `fetch` over connections of its own, which can be closed at once: those of the platform linger for
 * seconds, and would be counted as the server's.
 */
export function createAgentFetch(agent: Agent): typeof fetch {
  return (input, init = {}) => {
    const url = new URL(String(input));
    const { method = "GET", body, signal } = init;
    return new Promise<Response>((resolve, reject) => {
      const asked = request(
        url,
        {
          method,
          agent,
          headers: Object.fromEntries(new Headers(init.headers)),
          ...(signal == null ? {} : { signal }),
        },
        (answer) => {
          const headers = new Headers();
          for (const [name, value] of Object.entries(answer.headers)) headers.set(name, String(value));
          const status = answer.statusCode ?? 0;
          const isEmpty = status === 204 || status === 304;
          const content = isEmpty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>);
          resolve(new Response(content, { status, headers }));
        },
      );
      asked.on("error", reject);
      asked.end(typeof body === "string" || body instanceof Uint8Array ? body : undefined);
    });
  };
}
