// Servers that a browser loads from, each in its own process: our server with a page, the AI SDK behind its
// page, and a model's API behind both.
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname } from "node:path";
import { gzipSync } from "node:zlib";
import { encodeStream } from "../responses-stream.mjs";
import { parley } from "../whole-path/servers.mjs";

/** The model's answer to every request, word by word. */
const answer = "A short one, with **bold words** and a list:\n\n- one\n- two\n\nThat is all.";

const listen = async (server) => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}`;
};

/** Starts a model's API that answers at full speed. */
export async function model() {
  const words = answer.match(/\s*\S+/g);
  const events = encodeStream(words.length, (n) => words[n]);
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    for (const event of events) response.write(event);
    response.end();
  });
  return `${await listen(server)}/v1`;
}

/** Starts our server, on an embedded store, with the page in this folder. */
export const parleyPage = (options) => parley(options);

/** Starts the AI SDK, as in its documentation, and serves a page's files, compressed at startup. */
export async function aiSdkPage({ upstream, page }) {
  const [{ convertToModelMessages, streamText }, { createOpenAI }] = await Promise.all([
    import("ai"),
    import("@ai-sdk/openai"),
  ]);
  const languageModel = createOpenAI({ apiKey: "none", baseURL: upstream }).responses("gpt-example");
  const files = new Map(
    readdirSync(page, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath}/${entry.name}`)
      .map((path) => [
        path.slice(page.length),
        { type: types[extname(path)], bytes: gzipSync(readFileSync(path)) },
      ]),
  );
  const server = createServer(async (request, response) => {
    if (request.method === "POST") {
      let body = "";
      for await (const piece of request) body += String(piece);
      const messages = await convertToModelMessages(JSON.parse(body).messages);
      streamText({ model: languageModel, messages }).pipeUIMessageStreamToResponse(response);
      return;
    }
    const file = files.get(request.url === "/" ? "/index.html" : request.url);
    if (file === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "content-type": file.type, "content-encoding": "gzip" }).end(file.bytes);
  });
  return listen(server);
}

const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css" };
