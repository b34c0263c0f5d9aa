import { ReadableStream as WebStream } from "node:stream/web";
import { setTimeout as sleep } from "node:timers/promises";
import type { Tool } from "@parley/core";
import type { RuntimeLimits } from "@parley/core/runtime";
import { defaultServerLimits, type ServerLimits } from "@parley/server";
import type { ErrorCode } from "@parley/wire";
import type { TestSocket } from "../../packages/server/src/test-server.test-support.js";
import type { Area } from "./ledger.js";
import { codeOf, type RawAnswer } from "./raw-call.js";
import { within } from "./sockets.js";
import { callTools, openTarget, type Target } from "./target.js";

/** Small enough to be exceeded in a moment. */
export const tightLimits: {
  readonly server: Partial<ServerLimits>;
  readonly runtime: Partial<RuntimeLimits>;
} = {
  server: {
    bodyBytes: 4_000,
    faceBodyBytes: 4_000,
    importBytes: 8_000,
    frameBytes: 6_000,
    connectionsPerKey: 4,
    subscriptionsPerSocket: 3,
    bufferedBytes: 200_000,
    pageSize: 2,
  },
  runtime: {
    queueLength: 3,
    messageBytes: 1_500,
    runningTurns: 3,
    runningTurnsPerOwner: 2,
    toolOutputBytes: 2_000,
    maxSteps: 4,
  },
};

const json = { "content-type": "application/json" };

/** A tool with more output than any reader wants. */
export const chatter: Tool<{ bytes: number }> = {
  name: "chatter",
  description: "Says a lot",
  execute: ({ bytes }) => "x".repeat(bytes),
};

/** Exceeds every bound by a little: each has to be refused by its name, and the server has to continue. */
export async function passLimits(target: Target, area: Area): Promise<void> {
  const key = await target.key("greedy");
  const post = (path: string, body: string, headers: Record<string, string> = json) =>
    target.call({ method: "POST", path, key, headers, body });
  const expectCode = (what: string, answer: RawAnswer, code: ErrorCode) =>
    area.attempt(what, codeOf(answer) === code, `${answer.status} ${answer.text}`);

  await passBodies(target, key, area);
  const long = "m".repeat(1_600);
  for (const [path, body] of longMessages(long)) {
    expectCode(`a message that is too long at ${path}`, await post(path, JSON.stringify(body)), "too_large");
  }
  for (const [what, body] of [
    ["a list in a list, and so on", `{"id":"deep","metadata":{"a":${"[".repeat(900)}${"]".repeat(900)}}}`],
    ["objects in objects", `{"id":"deep","metadata":${'{"a":'.repeat(300)}1${"}".repeat(300)}}`],
  ] as const) {
    expectCode(what, await post("/conversations", body), "invalid_request");
  }
  const me = target.runtime.forOwner("greedy");
  for (const message of ["one", "two"]) {
    await me.send({ conversationId: "greedy-1", message });
    await me.last("greedy-1");
  }
  const page = await target.call({ path: "/conversations/greedy-1?limit=1000", key });
  const { chunks = [] } = JSON.parse(page.text) as { chunks?: unknown[] };
  area.attempt("a page of 1,000 where 2 are the most", chunks.length === 2, `${chunks.length}`);
  const huge = await target.call({ path: "/me", key, headers: { "x-filler": "f".repeat(20_000) } });
  area.attempt("headers that are too large", huge.status === 431 || huge.status === 0, `${huge.status}`);

  await passQueue(target, key, area);
  await passTurns(target, key, area);
  await passSockets(target, area);
  await passTools(target, area);
  const after = await target.call({ path: "/me", key });
  area.control("the server still answers", after.status === 200, after.text);
}

/** Returns one message of this text, by every protocol. */
function longMessages(text: string): readonly (readonly [path: string, body: object])[] {
  const parts = [{ type: "text", text }];
  const said = { role: "user", content: text };
  return [
    ["/chat", { message: text }],
    ["/api/chat", { id: "long", message: { id: "long", role: "user", parts } }],
    ["/v1/responses", { input: text }],
    ["/v1/responses", { input: [said, { role: "user", content: "hello" }] }],
    ["/v1/responses", { input: text, store: false }],
    ["/v1/chat/completions", { messages: [said] }],
  ];
}

async function passBodies(target: Target, key: string, area: Area): Promise<void> {
  const big = `{"id":"big","title":"${"t".repeat(4_000)}"}`;
  const lines = "\n".repeat(9_000);
  for (const [path, content, type] of [
    ["/conversations", big, "application/json"],
    ["/chat", big, "application/json"],
    ["/login", big, "application/json"],
    ["/api/chat", big, "application/json"],
    ["/v1/responses", big, "application/json"],
    ["/v1/chat/completions", big, "application/json"],
    ["/import", lines, "application/x-ndjson"],
  ] as const) {
    const declared = await target.call({
      method: "POST",
      path,
      key,
      headers: { "content-type": type },
      body: content,
    });
    area.attempt(`${path} with a large body`, codeOf(declared) === "too_large", `${declared.status}`);
    const chunked = await fetch(target.url + path, {
      method: "POST",
      headers: { "content-type": type, authorization: `Bearer ${key}` },
      body: WebStream.from(pieces(content)),
      duplex: "half",
    } as RequestInit).catch(() => undefined);
    const text = (await chunked?.text().catch(() => "")) ?? "";
    const isRefused = chunked === undefined || text.includes('"too_large"');
    area.attempt(`${path} with a large body in pieces`, isRefused, text);
  }
}

function* pieces(content: string): Generator<Uint8Array> {
  for (let start = 0; start < content.length; start += 700) {
    yield new TextEncoder().encode(content.slice(start, start + 700));
  }
}

async function passQueue(target: Target, key: string, area: Area): Promise<void> {
  const add = (index: number) =>
    target.call({
      method: "POST",
      path: "/conversations/greedy-queue/queue",
      key,
      headers: json,
      body: JSON.stringify({ text: "wait", messageId: `g${index}`, mode: "queue" }),
    });
  for (let index = 0; index <= 3; index += 1) {
    const answer = await add(index);
    area.control(`message ${index} is taken`, answer.status === 200, answer.text);
  }
  for (let index = 4; index < 10; index += 1) {
    const answer = await add(index);
    area.attempt(`message ${index} in a queue of 3`, codeOf(answer) === "queue_full", answer.text);
  }
}

async function passTurns(target: Target, key: string, area: Area): Promise<void> {
  const open = (owner: string, id: string) =>
    target.runtime
      .forOwner(owner)
      .send({ conversationId: id, message: "wait" })
      .then(
        () => "taken",
        (error: { code?: string }) => error.code ?? "failed",
      );
  // One of this owner's turns runs already.
  area.control("a second turn of one owner", (await open("greedy", "greedy-2")) === "taken");
  const waiting = { id: "w", role: "user", parts: [{ type: "text", text: "wait" }] };
  for (const [path, body] of [
    ["/chat", { conversationId: "greedy-3", message: "wait" }],
    ["/chat", { conversationId: "greedy-4", message: "wait" }],
    ["/api/chat", { id: "greedy-5", message: waiting }],
    ["/v1/responses", { input: "wait" }],
    ["/v1/responses", { input: "wait", store: false }],
    ["/v1/responses", { input: "wait", stream: true, background: true }],
    ["/v1/chat/completions", { messages: [{ role: "user", content: "wait" }] }],
    ["/v1/chat/completions", { messages: [{ role: "user", content: "wait" }], stream: true }],
  ] as const) {
    const call = { method: "POST", path, key, headers: json, body: JSON.stringify(body), patienceMs: 1_000 };
    const answer = await target.call(call);
    area.attempt(
      `${path} with ${JSON.stringify(body)} beside two turns of its owner`,
      codeOf(answer) === "limit_exceeded",
      `${answer.status}`,
    );
  }
  area.control("a turn of another owner", (await open("other", "other-1")) === "taken");
  const outcome = await open("third", "third-1");
  area.attempt("a fourth turn of this node", outcome === "limit_exceeded", outcome);
  target.gate.open();
}

async function passSockets(target: Target, area: Area): Promise<void> {
  const key = await target.key("social");
  const me = target.runtime.forOwner("social");
  for (let index = 0; index < 6; index += 1) await me.create({ id: `social-${index}` });
  const socket = await target.socket({ key });
  await socket.next("catalog");
  for (let index = 0; index < 6; index += 1) {
    socket.send({ type: "chat.subscribe", conversationId: `social-${index}`, cursor: "0" });
    const answer = await within(
      Promise.race([
        socket.next("chat.snapshot", ({ conversationId }) => conversationId === `social-${index}`),
        nextOf(socket, "chat.error"),
      ]),
      3_000,
    );
    const isTaken = answer?.type === "chat.snapshot";
    if (index < 3) area.control(`subscription ${index}`, isTaken, JSON.stringify(answer));
    else area.attempt(`subscription ${index} of 3`, !isTaken, JSON.stringify(answer));
  }
  socket.send({ type: "subscribe", surfaceId: "message-queue", conversationId: "social-5" });
  const surface = await within(Promise.race([nextOf(socket, "surface"), nextOf(socket, "error")]), 3_000);
  area.attempt("a surface beside 3 subscriptions", surface?.type === "error", JSON.stringify(surface));
  socket.send(JSON.stringify(Array.from({ length: 101 }, () => ({ type: "ping" }))));
  const many = await within(Promise.race([nextOf(socket, "chat.error"), nextOf(socket, "pong")]), 3_000);
  area.attempt("101 messages in a frame", many?.type === "chat.error", JSON.stringify(many));

  const more: TestSocket[] = [];
  for (let index = 2; index < 8; index += 1) {
    const opened = await target.socket({ key }).catch(() => undefined);
    const isOpen = opened !== undefined && (await within(opened.next("catalog"), 3_000)) !== undefined;
    if (opened !== undefined) more.push(opened);
    if (index <= 4) area.control(`connection ${index}`, isOpen);
    else area.attempt(`connection ${index} of 4`, !isOpen);
  }
  const stream = await target.call({ path: "/conversations/social-0/events", key });
  area.attempt("an event stream beside 4 sockets", codeOf(stream) === "limit_exceeded", `${stream.status}`);
  const said = { role: "user", content: "hello" };
  for (const [path, body] of [
    [
      "/api/chat",
      { id: "social-0", message: { id: "s", role: "user", parts: [{ type: "text", text: "hi" }] } },
    ],
    ["/v1/responses", { input: "hello" }],
    ["/v1/responses", { input: "hello", stream: true }],
    ["/v1/responses", { input: "hello", store: false }],
    ["/v1/chat/completions", { messages: [said] }],
    ["/v1/chat/completions", { messages: [said], stream: true }],
  ] as const) {
    const call = { method: "POST", path, key, headers: json, body: JSON.stringify(body) };
    const answer = await target.call(call);
    area.attempt(
      `${path} with ${JSON.stringify(body)} beside 4 sockets`,
      codeOf(answer) === "limit_exceeded",
      `${answer.status}`,
    );
  }
  for (const each of more) each.raw.terminate();

  for (const size of [6_001, 60_000]) {
    const fat = await target.socket({ key: await target.key("fat") });
    await fat.next("catalog");
    fat.send(`{"type":"ping","filler":"${"f".repeat(size)}"}`);
    const closed = await within(Promise.race([fat.closed, nextOf(fat, "pong")]), 3_000);
    area.attempt(
      `a frame of ${size} bytes`,
      closed !== undefined && "code" in closed && closed.code === 1009,
    );
    fat.raw.terminate();
  }
  socket.raw.terminate();
}

/** Searches all messages, read or not: two of these can wait side by side. */
async function nextOf(socket: TestSocket, type: string): Promise<TestSocket["messages"][number] | undefined> {
  const from = socket.messages.length;
  for (let waited = 0; waited < 600; waited += 1) {
    const found = socket.messages.slice(from).find((message) => message.type === type);
    if (found !== undefined) return found;
    await sleep(5);
  }
  return undefined;
}

async function passTools(target: Target, area: Area): Promise<void> {
  const me = target.runtime.forOwner("loud");
  await me.send({
    conversationId: "loud-1",
    message: callTools([{ tool: "chatter", input: { bytes: 1_400_000 } }]),
  });
  await me.last("loud-1");
  const { chunks } = await me.history({ conversationId: "loud-1" });
  const longest = Math.max(...chunks.map((chunk) => JSON.stringify(chunk).length));
  area.attempt("a tool that answers with 1.4 MB", longest < 4_000, `${longest} characters were kept`);
}

/** Sends more requests and messages than one key may: refused by name, with the time to retry after. */
export async function passRates(area: Area, weak: boolean): Promise<void> {
  const burst = 30;
  const limits = weak ? defaultServerLimits : { requestsPerSecond: 0.001, requestBurst: burst };
  const target = await openTarget({ serve: { limits } });
  try {
    const [key, other] = [await target.key("fast"), await target.key("calm")];
    for (let index = 0; index < 2 * burst; index += 1) {
      const answer = await target.call({ path: "/me", key });
      if (index < burst) area.control(`request ${index}`, answer.status === 200, answer.text);
      else {
        const isRefused = codeOf(answer) === "rate_limited" && answer.headers["retry-after"] !== undefined;
        area.attempt(`request ${index} of ${burst}`, isRefused, `${answer.status}`);
      }
    }
    for (const path of ["/api/chat/any/messages", "/v1/models"]) {
      const answer = await target.call({ path, key });
      area.attempt(`${path} beyond ${burst}`, answer.status === 429, `${answer.status}`);
    }
    const calm = await target.call({ path: "/me", key: other });
    area.control("another key is not held off", calm.status === 200, calm.text);
    const socket = await target.socket({ key: other });
    await socket.next("catalog");
    for (let index = 0; index < 2 * burst; index += 1) socket.send({ type: "ping" });
    for (let waited = 0; waited < 600 && socket.messages.length < 2 * burst; waited += 1) await sleep(5);
    const refused = socket.messages.filter(({ type }) => type === "chat.error").length;
    const answered = socket.messages.filter(({ type }) => type === "pong").length;
    area.control("messages within the burst", answered > 0);
    for (let index = 0; index < burst; index += 1) {
      area.attempt(`message ${index} beyond the burst`, index < refused, `${answered} answered`);
    }
    socket.raw.terminate();
  } finally {
    await target.close();
  }
}
