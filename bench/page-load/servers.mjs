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

/** Starts a model's API: a short answer at full speed, or a long one of this many words at this many per second. */
export async function model({ words: count, perSecond } = {}) {
  const words = count === undefined ? answer.match(/\s*\S+/g) : longAnswer(count);
  const events = encodeStream(words.length, (n) => words[n]);
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    if (perSecond === undefined) {
      for (const event of events) response.write(event);
      response.end();
    } else writePaced(response, events, perSecond);
  });
  return `${await listen(server)}/v1`;
}

/** Prose, lists and a block of code that grows until the end. */
function longAnswer(count) {
  const words = [];
  for (let n = 0; words.length < count / 2; n += 1) {
    words.push(
      ...`\n\n## Part ${n}\n\nSome **bold** words and \`code\` in a paragraph of some length.`.match(
        /\s*\S+/g,
      ),
    );
    words.push(...`\n\n- one thing\n- another [link](https://example.com)\n`.match(/\s*\S+/g));
  }
  words.push("\n\n```ts\n");
  for (let n = 0; words.length < count; n += 1) {
    words.push(...`export const value${n} = compute(${n}, "text"); // ${n}\n`.match(/\S+\s*/g));
  }
  words.push("```\n\n", "That ", "is ", "all.");
  return words;
}

function writePaced(response, events, perSecond) {
  const startedAt = performance.now();
  let written = 0;
  const timer = setInterval(() => {
    const due = Math.min(events.length, Math.ceil(((performance.now() - startedAt) / 1_000) * perSecond));
    for (; written < due; written += 1) response.write(events[written]);
    if (written < events.length) return;
    clearInterval(timer);
    response.end();
  }, 4);
  response.on("close", () => clearInterval(timer));
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
    const { pathname, searchParams } = new URL(request.url, "http://127.0.0.1");
    if (pathname === "/api/messages") {
      const messages = storedMessages(Number(searchParams.get("count")));
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(messages));
      return;
    }
    const file = files.get(pathname === "/" ? "/index.html" : pathname);
    if (file === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "content-type": file.type, "content-encoding": "gzip" }).end(file.bytes);
  });
  return listen(server);
}

/** The words of the n-th message of a long conversation. */
export function messageText(n) {
  return `Message ${n} has **some** words, ${"and then some more of them ".repeat(16)}\n\n- one\n- two`;
}

function storedMessages(count) {
  return Array.from({ length: count }, (_, n) => ({
    id: `m${n + 1}`,
    role: n % 2 === 0 ? "user" : "assistant",
    parts: [{ type: "text", text: messageText(n + 1) }],
  }));
}

const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css" };
