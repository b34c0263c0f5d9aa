import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Output of a model: reasoning, words of its answer, or a call to a tool. */
export type Piece =
  | { readonly text: string; readonly thought?: boolean }
  | { readonly call: string; readonly input: Readonly<Record<string, unknown>> };

/** Yields the answer to a question, piece by piece. `results`: the number of tool results since the question. */
export type Script = (question: string, results: number) => AsyncIterable<Piece> | Iterable<Piece>;

/** A refusal in place of an answer. */
export interface Refusal {
  readonly status: number;
  /** Seconds. */
  readonly retryAfter?: number;
}

/** A request to the server, as it arrived. */
type Asked = Readonly<Record<string, unknown>>;

/** A model server of another vendor, from the page's view: it implements chat completions, and Responses. */
export class Upstream {
  readonly #server: Server;
  /** Every request so far. */
  readonly requests: readonly Asked[];

  private constructor(server: Server, requests: readonly Asked[]) {
    this.#server = server;
    this.requests = requests;
  }

  /** Starts it. With a key, a caller that has another one is refused. `models` is the list of the server. */
  static async start(
    script: Script,
    options: {
      readonly key?: string;
      readonly models?: readonly object[];
      /** Called with each question: returns its refusal, if it gets one. */
      readonly refuse?: (question: string) => Refusal | undefined;
    } = {},
  ): Promise<Upstream> {
    const requests: Asked[] = [];
    const { key, models = [{ id: "example", context_length: 128_000 }] } = options;
    const server = createServer(async (request, response) => {
      try {
        if (key !== undefined && request.headers.authorization !== `Bearer ${key}`) {
          response.writeHead(401, { "content-type": "application/json" });
          response.end(
            JSON.stringify({ error: { message: `Incorrect API key: ${request.headers.authorization}` } }),
          );
          return;
        }
        if (request.method === "GET") {
          response.writeHead(200, { "content-type": "application/json" });
          response.end(JSON.stringify({ object: "list", data: models }));
          return;
        }
        let body = "";
        for await (const piece of request) body += String(piece);
        const asked = JSON.parse(body) as Asked;
        requests.push(asked);
        const refusal = options.refuse?.(questionOf(asked));
        if (refusal !== undefined) {
          const { status, retryAfter } = refusal;
          const after = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
          response.writeHead(status, { "content-type": "application/json", ...after });
          response.end(JSON.stringify({ error: { message: "Not now" } }));
          return;
        }
        const speak = request.url?.endsWith("/responses") === true ? respond : complete;
        await speak(asked, response, script);
      } catch {
        response.destroy();
      }
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Upstream(server, requests);
  }

  /** Returns the address of its API. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/v1`;
  }

  get #models(): object {
    return {
      baseUrl: this.url,
      models: [{ name: "example", contextWindow: 128_000 }],
    };
  }

  /** Returns a credential for the server's configuration, with one model. */
  get credential(): object {
    return { kind: "compatible", ...this.#models };
  }

  /** Returns a credential for a model that accepts an effort. It only answers, and calls no tools. */
  get thinkingCredential(): object {
    return { kind: "openai", apiKey: "none", ...this.#models };
  }

  end(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

interface Said {
  readonly role: string;
  readonly content: unknown;
}

/** Sends one message in the format of Responses. */
async function respond(request: Asked, response: ServerResponse, script: Script): Promise<void> {
  const question = textOf(
    (request.input as readonly Said[]).findLast(({ role }) => role === "user")?.content,
  );
  response.writeHead(200, { "content-type": "text/event-stream" });
  let number = 0;
  const send = (type: string, rest: object) => {
    response.write(`data: ${JSON.stringify({ type, sequence_number: number++, ...rest })}\n\n`);
  };
  const responseOf = (status: string, output: readonly object[], usage: object | null) => ({
    response: { id: "answer", object: "response", created_at: 0, model: "example", status, output, usage },
  });
  const place = { item_id: "message", output_index: 0, content_index: 0 };
  const message = (status: string, text: string) => ({
    id: "message",
    type: "message",
    role: "assistant",
    status,
    content: text === "" ? [] : [{ type: "output_text", text, annotations: [] }],
  });
  send("response.created", responseOf("in_progress", [], null));
  send("response.output_item.added", { output_index: 0, item: message("in_progress", "") });
  let text = "";
  for await (const piece of script(question, 0)) {
    if (!("text" in piece)) throw new Error("This model has no tools");
    text += piece.text;
    send("response.output_text.delta", { ...place, delta: piece.text });
  }
  send("response.output_text.done", { ...place, text });
  send("response.output_item.done", { output_index: 0, item: message("completed", text) });
  const usage = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };
  send("response.completed", responseOf("completed", [message("completed", text)], usage));
  response.end();
}

async function complete(request: Asked, response: ServerResponse, script: Script): Promise<void> {
  const messages = request.messages as readonly Said[];
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const question = textOf(messages[asked]?.content);
  const results = messages.slice(asked + 1).filter(({ role }) => role === "tool").length;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (rest: object) => {
    const head = { id: "answer", object: "chat.completion.chunk", created: 0, model: "example" };
    response.write(`data: ${JSON.stringify({ ...head, ...rest })}\n\n`);
  };
  const say = (delta: object, finish_reason: string | null = null) =>
    send({ choices: [{ index: 0, delta, finish_reason }] });
  let calls = 0;
  let written = 0;
  for await (const piece of script(question, results)) {
    if (response.destroyed) return;
    written += "call" in piece ? JSON.stringify(piece).length : piece.text.length;
    if ("call" in piece) {
      const made = { name: piece.call, arguments: JSON.stringify(piece.input) };
      say({
        tool_calls: [
          { index: calls, id: `call-${messages.length}-${calls}`, type: "function", function: made },
        ],
      });
      calls += 1;
    } else say(piece.thought ? { reasoning_content: piece.text } : { content: piece.text });
  }
  say({}, calls > 0 ? "tool_calls" : "stop");
  // About four characters to a token; what was there before the tools answered comes from a cache.
  const [prompt_tokens, completion_tokens] = [
    Math.ceil(JSON.stringify(request).length / 4),
    Math.ceil(written / 4),
  ];
  const before = JSON.stringify(messages.slice(0, asked + 1)).length / 4;
  const cached_tokens = results === 0 ? 0 : Math.floor(Math.min(before, prompt_tokens) / 128) * 128;
  send({
    choices: [],
    usage: { prompt_tokens, completion_tokens, prompt_tokens_details: { cached_tokens } },
  });
  response.end("data: [DONE]\n\n");
}

function questionOf({ messages = [] }: Asked): string {
  return textOf((messages as readonly Said[]).findLast(({ role }) => role === "user")?.content);
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}
