import { type IncomingHttpHeaders, request } from "node:http";
import {
  type OpenAiRoute,
  openAiCall,
} from "../../packages/server/src/faces/openai/openai-calls.test-support.js";
import { type CalledRoute, callOf } from "../../packages/server/src/routes/route-calls.test-support.js";

type Fields = Readonly<Record<string, unknown>>;

/** An uninterpreted answer. */
export interface RawAnswer {
  /** 0: there was none in time. 101: a socket was opened. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface RawCall {
  readonly method?: string;
  /** As it is sent: nothing is normalized. */
  readonly path: string;
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array | undefined;
  /** Time to wait for an answer, and to read one that does not end. */
  readonly patienceMs?: number;
}

/** Sends a request without the restrictions of `fetch`: any Host, any path. An answer that does not end is cut off. */
export function rawCall(url: string, call: RawCall): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const { method = "GET", path, key, headers = {}, body, patienceMs = 3_000 } = call;
  return new Promise((resolve) => {
    let text = "";
    let status = 0;
    let received: IncomingHttpHeaders = {};
    const asked = request(
      {
        host: hostname.replace(/^\[|\]$/g, ""),
        port,
        method,
        path,
        agent: false,
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }),
          ...headers,
        } as Record<string, string>,
      },
      (response) => {
        status = response.statusCode ?? 0;
        received = response.headers;
        const isEndless = /event-stream/.test(response.headers["content-type"] ?? "");
        if (isEndless) setTimeout(end, 150);
        response.setEncoding("utf8");
        response.on("data", (piece: string) => {
          text += piece;
        });
        response.on("end", end);
        response.on("error", end);
      },
    );
    const giveUp = setTimeout(end, patienceMs);
    function end(): void {
      clearTimeout(giveUp);
      resolve({ status, headers: received, text });
      asked.destroy();
    }
    asked.on("upgrade", (response, socket) => {
      status = 101;
      received = response.headers;
      socket.destroy();
      end();
    });
    asked.on("error", end);
    asked.end(body);
  });
}

/** Returns a route's well-formed call on a conversation. */
export function routeCall(name: CalledRoute, conversationId: string, key?: string): RawCall {
  const { method, path, body, raw } = callOf(name, conversationId);
  const content = body === undefined ? raw : JSON.stringify(body);
  return {
    method,
    path,
    key,
    body: content,
    headers: content === undefined ? {} : { "content-type": "application/json" },
  };
}

/** Returns a well-formed call of a route of OpenAI's API, on a conversation and one of its turns. */
export function openAiRawCall(
  name: OpenAiRoute,
  conversationId: string,
  key?: string,
  turnId?: string,
): RawCall {
  const { method, path, body } = openAiCall(name, conversationId, turnId);
  return {
    method,
    path,
    key,
    body: body === undefined ? undefined : JSON.stringify(body),
    headers: body === undefined ? {} : { "content-type": "application/json" },
  };
}

/** Returns everything by which an attacker could distinguish two answers, without what is different in every answer. */
export function shapeOf(answer: RawAnswer, conversationId: string): string {
  const headers = Object.entries(answer.headers)
    .filter(([name]) => !["date", "x-request-id", "ratelimit-remaining", "ratelimit-reset"].includes(name))
    .map(([name, value]) => `${name}: ${value}`)
    .sort();
  const text = answer.text
    .replaceAll(conversationId, "<id>")
    .replace(/"requestId":"[^"]*"/g, '"requestId":"<id>"');
  return [answer.status, ...headers, text].join("\n");
}

/** Returns the code of a problem, also in OpenAI's shape, or an empty text. */
export function codeOf({ text }: RawAnswer): string {
  try {
    const { error, code = (error as { code?: unknown } | null)?.code } = JSON.parse(text) as Fields;
    return typeof code === "string" ? code : "";
  } catch {
    return "";
  }
}
