import { type Agent, type AgentOptions, request } from "node:http";
import { Readable } from "node:stream";

/** A connection that rests is closed before the server does it: a request could meet it on its way out. */
export const agentOptions: AgentOptions = { keepAlive: true, timeout: 1_000 };

/**
 * `fetch` over connections of one's own, which can be closed at once: the ones of the platform's linger for seconds, and
 * would be counted as the server's.
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
