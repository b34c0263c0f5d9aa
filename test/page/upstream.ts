import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Something that a model says: reasoning, or words of its answer. */
export interface Piece {
  readonly text: string;
  readonly thought?: boolean;
}

/** Says what is answered to a question, piece by piece. */
export type Script = (question: string) => AsyncIterable<Piece> | Iterable<Piece>;

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

  /** A credential for the server's configuration. */
  get credential(): object {
    const { port } = this.#server.address() as AddressInfo;
    return {
      kind: "compatible",
      baseUrl: `http://127.0.0.1:${port}/v1`,
      models: [{ name: "told", contextWindow: 200_000 }],
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
  const question = textOf(messages.findLast(({ role }) => role === "user")?.content);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const tell = (rest: object) => {
    const head = { id: "told", object: "chat.completion.chunk", created: 0, model: "told" };
    response.write(`data: ${JSON.stringify({ ...head, ...rest })}\n\n`);
  };
  const say = (delta: object, finish_reason: string | null = null) =>
    tell({ choices: [{ index: 0, delta, finish_reason }] });
  for await (const { text, thought = false } of script(question)) {
    if (response.destroyed) return;
    say(thought ? { reasoning_content: text } : { content: text });
  }
  say({}, "stop");
  tell({ choices: [], usage: { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 } });
  response.end("data: [DONE]\n\n");
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}
