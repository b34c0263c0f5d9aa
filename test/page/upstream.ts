import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Something that a model says: reasoning, words of its answer, or a call to a tool. */
export type Piece =
  | { readonly text: string; readonly thought?: boolean }
  | { readonly call: string; readonly input: Readonly<Record<string, unknown>> };

/** Says what is answered to a question, piece by piece. `results`: how many tools have answered since it was asked. */
export type Script = (question: string, results: number) => AsyncIterable<Piece> | Iterable<Piece>;

/** A model server of another maker, as far as the page can tell: it speaks the chat completions protocol. */
export class Upstream {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(script: Script): Promise<Upstream> {
    const server = createServer((request, response) => {
      answer(request, response, script).catch(() => response.destroy());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Upstream(server);
  }

  /** A credential for the server's configuration, with one model. */
  get credential(): object {
    const { port } = this.#server.address() as AddressInfo;
    return {
      kind: "compatible",
      baseUrl: `http://127.0.0.1:${port}/v1`,
      models: [{ name: "example", contextWindow: 128_000 }],
    };
  }

  end(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

async function answer(request: IncomingMessage, response: ServerResponse, script: Script): Promise<void> {
  let body = "";
  for await (const piece of request) body += String(piece);
  const { messages } = JSON.parse(body) as Asked;
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const question = textOf(messages[asked]?.content);
  const results = messages.slice(asked + 1).filter(({ role }) => role === "tool").length;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const tell = (rest: object) => {
    const head = { id: "told", object: "chat.completion.chunk", created: 0, model: "example" };
    response.write(`data: ${JSON.stringify({ ...head, ...rest })}\n\n`);
  };
  const say = (delta: object, finish_reason: string | null = null) =>
    tell({ choices: [{ index: 0, delta, finish_reason }] });
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
  const [prompt_tokens, completion_tokens] = [Math.ceil(body.length / 4), Math.ceil(written / 4)];
  const before = JSON.stringify(messages.slice(0, asked + 1)).length / 4;
  const cached_tokens = results === 0 ? 0 : Math.floor(Math.min(before, prompt_tokens) / 128) * 128;
  tell({
    choices: [],
    usage: { prompt_tokens, completion_tokens, prompt_tokens_details: { cached_tokens } },
  });
  response.end("data: [DONE]\n\n");
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}
