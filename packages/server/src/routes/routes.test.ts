import type {
  AgentEvent,
  ExportLine,
  FileAddress,
  HistoryResponse,
  ListConversationsResponse,
  MetricsResponse,
  Problem,
  SearchResponse,
  UploadInfo,
} from "@parley/wire";
import { beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../app.js";
import { complaints } from "../json-schema-check.test-support.js";
import { createLogger } from "../telemetry/logging.js";
import {
  jsonLines,
  problemOf,
  readSse,
  startTestServer,
  type TestServer,
} from "../test-server.test-support.js";
import { type CalledRoute, callOf, routeNames } from "./route-calls.test-support.js";
import { GivenLogins } from "./tool-logins.test-support.js";

async function chat(server: TestServer, message: string, conversationId = "c1"): Promise<AgentEvent[]> {
  const tools = message === "page" ? { tools: [{ name: "page" }] } : {};
  const { text } = await server.call("POST", "/chat", { body: { conversationId, message, ...tools } });
  return jsonLines<AgentEvent>(text);
}

const fourTurns = async (server: TestServer) => {
  for (const word of ["two", "three", "four"]) await chat(server, word);
};

/** Starts a turn that runs until the gate opens, with one message that waits behind it. */
async function withQueue(server: TestServer): Promise<Prepared> {
  const me = server.runtime.forOwner("local");
  await me.send({ conversationId: "busy", message: "wait" });
  await me.queue.add({ conversationId: "busy", message: "first", messageId: "q1", mode: "queue" });
  return { conversationId: "busy" };
}

async function withConnection(server: TestServer): Promise<Prepared> {
  await server.runtime.connections?.add({ name: "stored", kind: "scripted", apiKey: "sk-one" });
  return {};
}

async function withWebhook(server: TestServer): Promise<Prepared> {
  await server.runtime.forOwner("local").webhooks.add({ id: "w1", url: "https://hooks.example/one" });
  await chat(server, "hello again");
  return {};
}

/** Creates an upload, and a conversation whose message has it. */
async function withFile(server: TestServer): Promise<string> {
  const { id } = (await server.call("POST", "/files?name=a.txt", { raw: "hello" })).json as UploadInfo;
  const me = server.runtime.forOwner("local");
  await me.send({ conversationId: "filed", message: "Look", parts: [{ type: "file", uploadId: id }] });
  await me.last("filed");
  return id;
}

/** Replacement of a call's target. */
interface Prepared {
  readonly conversationId?: string;
  readonly path?: string;
  readonly raw?: string;
  readonly headers?: Record<string, string>;
}

/** Preparations that a call needs to succeed, beside a conversation of one turn. */
const preparations: {
  readonly [Name in CalledRoute]?: (server: TestServer) => Promise<Prepared | undefined>;
} = {
  "POST /chat": async () => ({ conversationId: "c2" }),
  "GET /conversations/:id/turns/:turnId": async (server) => {
    const [first] = await chat(server, "one more");
    return {
      path: `/conversations/c1/turns/${first !== undefined && "turnId" in first ? first.turnId : ""}`,
    };
  },
  "GET /conversations/:id/queue": withQueue,
  "PATCH /conversations/:id/queue/:messageId": withQueue,
  "DELETE /conversations/:id/queue/:messageId": withQueue,
  "POST /conversations/:id/stop": withQueue,
  "POST /conversations/:id/queue/resume": async (server) => {
    const prepared = await withQueue(server);
    const me = server.runtime.forOwner("local");
    await me.stop("busy");
    await me.last("busy");
    return prepared;
  },
  "POST /conversations/:id/compact": async (server) => {
    await fourTurns(server);
    return {};
  },
  "POST /conversations/:id/compact/preview": async (server) => {
    await fourTurns(server);
    return {};
  },
  "POST /conversations/:id/compact/undo": async (server) => {
    await fourTurns(server);
    await server.runtime.forOwner("local").compact("c1", { keepLastN: 1 });
    return {};
  },
  "POST /import": async (server) => ({
    path: "/import?id=imported",
    raw: (await server.call("GET", "/conversations/c1/export")).text,
    headers: { "content-type": "application/x-ndjson" },
  }),
  "POST /conversations/:id/pending/:requestId": async (server) => {
    await chat(server, "page", "asking");
    const [request] = (await server.runtime.forOwner("local").input.pending()).pending;
    return { path: `/conversations/asking/pending/${request?.requestId}` };
  },
  "GET /files/:id": async (server) => ({ path: `/files/${await withFile(server)}` }),
  "GET /files/:id/address": async (server) => ({ path: `/files/${await withFile(server)}/address` }),
  "GET /conversations/:id/files/:seq": async (server) => {
    await withFile(server);
    return { path: "/conversations/filed/files/2" };
  },
  "GET /conversations/:id/files/:seq/address": async (server) => {
    await withFile(server);
    return { path: "/conversations/filed/files/2/address" };
  },
  "GET /signed-files/:token": async (server) => {
    const address = await server.call("GET", `/files/${await withFile(server)}/address`);
    return { path: (address.json as FileAddress).path };
  },
  "PATCH /connections/:name": withConnection,
  "DELETE /connections/:name": withConnection,
  "POST /connections/:name/test": withConnection,
  "PATCH /webhooks/:id": withWebhook,
  "DELETE /webhooks/:id": withWebhook,
  "POST /webhooks/:id/test": withWebhook,
  "GET /webhooks/:id/deliveries": withWebhook,
  "POST /webhooks/:id/replay": withWebhook,
  "GET /keys": async (server) => ({
    headers: { authorization: `Bearer ${await server.key("local", ["admin"])}` },
  }),
};

interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, object> };
}
interface Operation {
  readonly operationId?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly schema: { readonly $ref?: string } }[];
  readonly requestBody?: { readonly required?: boolean };
  readonly responses: Record<string, { readonly content: Record<string, { readonly schema: object }> }>;
}

/** Ids that others make: sources and parts of an answer, and those of the faces. */
const foreignIds = [/\.sources\.items\.id$/, /^schemas\.Chunk/, /^schemas\.(OpenAI|StoredUi|Ui|Mcp)/];

let server: TestServer;
let document: Document;

beforeEach(async () => {
  server = await startTestServer({ pace: { keyMs: 0 }, toolSource: new GivenLogins() });
  document = (await server.call("GET", "/openapi.json")).json as Document;
  await chat(server, "hello");
});

/** Returns the path of a route, as the contract writes it. */
function pathIn(name: string): string {
  return (name.split(" ")[1] ?? "").replaceAll(/:([A-Za-z]+)/g, "{$1}");
}

/** Returns the contract's schema of an answer with this status. */
function contractOf(name: string, status: number, type: string | null): object {
  const [method = ""] = name.split(" ");
  const operation = document.paths[pathIn(name)]?.[method.toLowerCase()];
  const answer = operation?.responses[String(status)] ?? operation?.responses.default;
  const content = answer?.content[(type ?? "").split(";")[0] ?? ""] ?? answer?.content["*/*"];
  if (content === undefined) throw new Error(`${name}: the contract knows no ${status} of ${type}`);
  return content.schema;
}

async function perform(name: CalledRoute) {
  const prepared = await preparations[name]?.(server);
  const { method, path, body, raw } = callOf(name, prepared?.conversationId ?? "c1");
  const content = prepared?.raw ?? raw;
  return server.call(method, prepared?.path ?? path, {
    ...(body === undefined ? {} : { body }),
    ...(content === undefined ? {} : { raw: content }),
    ...(prepared?.headers === undefined ? {} : { headers: prepared.headers }),
  });
}

/** Answered with server-sent events: those of faces are in tests of their own. */
const streams: readonly CalledRoute[] = [
  "GET /conversations/:id/events",
  "POST /api/chat",
  "GET /api/chat/:id/stream",
];

describe("every route", () => {
  it.each(routeNames.filter((name) => !streams.includes(name)))(
    "%s answers as the published contract says",
    async (name) => {
      const answer = await perform(name);
      expect(answer.status, answer.text).toBe(name === "POST /files" ? 201 : 200);
      const type = answer.headers.get("content-type");
      const schema = contractOf(name, answer.status, type);
      if (type?.startsWith("text/plain")) return;
      const values = type?.startsWith("application/x-ndjson") ? jsonLines(answer.text) : [answer.json];
      expect(values.length).toBeGreaterThan(0);
      for (const value of values) expect(complaints(document, schema, value)).toEqual([]);
    },
  );

  it("of which one streams events, as the contract says", async () => {
    const response = await fetch(`${server.url}/conversations/c1/events?cursor=0`);
    const schema = contractOf("GET /conversations/:id/events", 200, response.headers.get("content-type"));
    const seen: string[] = [];
    for await (const { event, data } of readSse(response)) {
      if (event === undefined) continue;
      seen.push(event);
      expect(complaints(document, schema, JSON.parse(data ?? ""))).toEqual([]);
      if (seen.length === 2) break;
    }
    expect(seen).toEqual(["snapshot", "chunks"]);
  });

  it("takes a call without a body exactly where the contract says that it may be left out", async () => {
    const optional: string[] = [];
    for (const name of routeNames) {
      const { method, path } = callOf(name, "c1");
      const operation = document.paths[pathIn(name)]?.[method.toLowerCase()];
      const { requestBody } = operation ?? {};
      if (requestBody === undefined || name === "POST /import" || name === "POST /files") continue;
      const answer = await server.call(method, path);
      // The body was refused if an error names more than the parameters of the address.
      const { errors = [] } = answer.status === 400 ? (answer.json as Problem) : {};
      const isRefused = errors.some((error) => !path.includes("queue/") || error.path !== "messageId");
      expect([name, isRefused]).toEqual([name, requestBody.required ?? false]);
      if (!isRefused) optional.push(name);
    }
    expect(optional).toContain("POST /conversations/:id/compact");
  });

  it("is in the contract, and nothing else is", () => {
    const published = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`),
    );
    // Those of /v1 and /mcp have failures of their own shape, and are checked with their face.
    const native = published.filter((name) => !/ \/(v1|mcp)\b/.test(name));
    expect(native.sort()).toEqual([...routeNames].sort());
  });

  it("has a name of its own in the contract, and its refusals by status", () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const names = operations.map(({ operationId }) => operationId ?? "");
    expect(names.filter((name) => !/^[a-z][A-Za-z]+$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    for (const { operationId, security, responses } of operations) {
      const refusals = Object.keys(responses).filter((status) => /^4\d\d$/.test(status));
      const expected = security?.length === 0 ? ["403"] : ["401", "403", "429"];
      expect([operationId, refusals]).toEqual([operationId, expect.arrayContaining(expected)]);
      for (const status of refusals)
        expect(Object.keys(responses[status]?.content ?? {})).toEqual([expect.stringMatching(/json$/)]);
    }
  });

  it("writes ids in one form: those that Parley makes or takes are all of one schema", () => {
    const others: string[] = [];
    const look = (place: string, properties: Readonly<Record<string, { readonly $ref?: string }>>) => {
      for (const [name, schema] of Object.entries(properties)) {
        if (!/^(id|conversationId|messageId|turnId|parentId|keyId)$/.test(name)) continue;
        if (schema.$ref !== "#/components/schemas/Id") others.push(`${place}.${name}`);
      }
    };
    const walk = (place: string, value: unknown) => {
      if (typeof value !== "object" || value === null) return;
      const { properties, ...rest } = value as { properties?: Record<string, object> };
      if (properties !== undefined) look(place, properties);
      for (const [name, part] of Object.entries({ ...rest, ...properties })) walk(`${place}.${name}`, part);
    };
    const paths = Object.entries(document.paths).filter(([path]) => !/^\/(v1|mcp|api)\b/.test(path));
    for (const [path, operations] of paths) {
      walk(path, operations);
      for (const { parameters = [] } of Object.values(operations))
        look(path, Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])));
    }
    walk("schemas", document.components.schemas);
    expect(others.filter((place) => !foreignIds.some((each) => each.test(place)))).toEqual([]);
  });

  it("names its fields in the contract", () => {
    const text = JSON.stringify(document);
    for (const name of ["StoredChunk", "AgentEvent", "Problem", "TurnMetrics", "ConversationMeta"]) {
      expect(text).toContain(`#/components/schemas/${name}`);
    }
    expect(document).toMatchObject({ openapi: "3.1.0" });
  });

  it("names in the contract what travels in headers, and both ways to bring a key", () => {
    const { paths } = document;
    expect(paths["/conversations/{id}/events"]?.get).toMatchObject({
      parameters: expect.arrayContaining([
        expect.objectContaining({ name: "Last-Event-ID", in: "header", required: false }),
      ]),
      security: [{ key: [] }, { cookie: [] }],
    });
    expect(paths["/chat"]?.post).toMatchObject({
      responses: { 200: { headers: { "X-Conversation-Id": {}, "X-Message-Id": {} } } },
    });
    expect(document).toMatchObject({
      components: {
        securitySchemes: { key: { scheme: "bearer" }, cookie: { in: "cookie", name: "parley_login" } },
      },
    });
    for (const path of ["/conversations", "/conversations/{id}"]) {
      expect(paths[path]?.get).toMatchObject({
        parameters: expect.arrayContaining([
          expect.objectContaining({ name: "limit", schema: { type: "integer", minimum: 1 } }),
        ]),
      });
    }
  });
});

describe("the conversation routes", () => {
  it("create once, however often they are asked with the same id", async () => {
    const first = await server.call("POST", "/conversations", { body: { id: "once", title: "One" } });
    const again = await server.call("POST", "/conversations", { body: { id: "once", title: "One" } });
    expect(first.json).toMatchObject({ created: true, conversation: { id: "once", title: "One" } });
    expect(again.json).toMatchObject({ created: false, conversation: { id: "once" } });
  });

  it("fork once, with one message, however often they are asked with the same id", async () => {
    await chat(server, "hello");
    const body = { atSeq: 0, id: "branch", message: "another way" };
    const fork = () => server.call("POST", "/conversations/c1/fork", { body });
    const first = await fork();
    await server.runtime.forOwner("local").last("branch");
    const again = await fork();
    expect([first.status, again.status]).toEqual([200, 200]);
    expect((again.json as { turnId: string }).turnId).toBe((first.json as { turnId: string }).turnId);
    const other = await server.call("POST", "/conversations/c1/fork", { body: { ...body, message: "no" } });
    expect(other.status).toBe(409);
  });

  it.each([
    ["POST", "/conversations/c1/fork", { atSeq: 1 }, "atSeq"],
    ["POST", "/conversations/c1/fork", { atSeq: 0, id: "c1" }, "id"],
    ["POST", "/conversations/c1/queue", { text: " \n" }, "text"],
    ["POST", "/conversations/c1/compact/preview", { modelName: "no/model" }, "modelName"],
    ["POST", "/conversations/c1/compact", { modelName: "no/model" }, "modelName"],
    ["POST", "/chat", { conversationId: "c1", message: " " }, "message"],
    ["POST", "/chat", { conversationId: "..", message: "hello" }, "conversationId"],
    ["POST", "/conversations/c1/queue", { messageId: ".", text: "hello" }, "messageId"],
    ["POST", "/conversations", { id: ".." }, "id"],
    ["GET", "/conversations/c1/events?cursor=1~t~1~-7", undefined, "cursor"],
  ])("name the field at fault: %s %s %j", async (method, path, body, field) => {
    await chat(server, "hello");
    const answer = await server.call(method, path, body === undefined ? {} : { body });
    expect([answer.status, problemOf(answer).errors?.map((each) => each.path)]).toEqual([400, [field]]);
  });

  it("say of a message that waits whether its turn will come by itself", async () => {
    const body = { conversationId: "c1", messageId: "later", message: "later" };
    const running = server.call("POST", "/chat", { body: { conversationId: "c1", message: "wait" } });
    const me = server.runtime.forOwner("local");
    await expect.poll(async () => (await me.meta("c1")).activeTurn).toBeDefined();
    await server.call("POST", "/conversations/c1/queue", {
      body: { messageId: "later", text: "later", mode: "queue" },
    });
    const waiting = await server.call("POST", "/chat", { body });
    expect([waiting.status, problemOf(waiting)]).toMatchObject([
      409,
      { code: "turn_active", retryable: true },
    ]);
    await server.call("POST", "/conversations/c1/stop");
    await running;
    await expect.poll(async () => (await me.queue.list("c1")).paused).toBe(true);
    const paused = await server.call("POST", "/chat", { body });
    expect([paused.status, problemOf(paused)]).toMatchObject([
      409,
      {
        code: "turn_active",
        retryable: false,
        detail: "The queue is paused: resume it, or remove the message",
      },
    ]);
  });

  it("return what was set, and null where nothing is", async () => {
    const read = async (setting: string) => (await server.call("GET", `/conversations/c1/${setting}`)).json;
    const inUse = { effective: "scripted/one", effectiveFrom: "last-turn" };
    expect(await read("model")).toEqual({ model: null, ...inUse });
    expect(await read("reasoning-effort")).toEqual({ reasoningEffort: null, effective: "high" });
    const body = { reasoningEffort: "low" };
    const effort = await server.call("PUT", "/conversations/c1/reasoning-effort", { body });
    expect(effort.json).toEqual({ reasoningEffort: "low", effective: "low" });
    expect((await server.call("GET", "/conversations/c1/meta")).json).toMatchObject({
      effective: { model: "scripted/one", modelFrom: "last-turn", reasoningEffort: "low" },
    });
    expect(await read("instructions")).toEqual({ instructions: null });
    const unset = { compactThreshold: null, defaultThreshold: 80_000 };
    expect(await read("compact-threshold")).toEqual(unset);
    const put = async (compactThreshold: number | null) =>
      (await server.call("PUT", "/conversations/c1/compact-threshold", { body: { compactThreshold } })).json;
    expect(await put(0)).toEqual({ ...unset, compactThreshold: 0 });
    expect(await read("compact-threshold")).toEqual({ ...unset, compactThreshold: 0 });
    expect(await put(null)).toEqual(unset);
  });

  it("make a conversation temporary, keep it, and know none that is gone", async () => {
    const listed = async () => {
      const { conversations } = (await server.call("GET", "/conversations"))
        .json as ListConversationsResponse;
      return conversations.map(({ id }) => id);
    };
    const made = await server.call("POST", "/conversations", { body: { id: "t1", temporary: true } });
    expect(made.json).toMatchObject({ conversation: { id: "t1", temporary: true }, created: true });
    const sent = { conversationId: "t2", message: "Hello", temporary: true };
    expect((await server.call("POST", "/chat", { body: sent })).status).toBe(200);
    expect((await server.call("GET", "/conversations/t2/meta")).json).toMatchObject({ temporary: true });
    const plain = await server.call("POST", "/conversations", { body: { id: "t3", temporary: false } });
    expect((plain.json as { conversation: object }).conversation).not.toHaveProperty("temporary");
    expect(await listed()).toEqual(expect.not.arrayContaining(["t1", "t2"]));
    const put = (id: string, temporary: unknown) =>
      server.call("PUT", `/conversations/${id}/temporary`, { body: { temporary } });
    expect((await put("t2", false)).json).toEqual({ temporary: false });
    expect((await server.call("GET", "/conversations/t2/temporary")).json).toEqual({ temporary: false });
    expect(await listed()).toContain("t2");
    expect((await put("t2", true)).json).toEqual({ temporary: true });
    expect((await put("t2", null)).status).toBe(400);
    await server.call("DELETE", "/conversations/t1");
    expect((await put("t1", false)).status).toBe(404);
    expect((await server.call("GET", "/conversations/t1/meta")).status).toBe(404);
  });

  it("pin, list the pinned ones first and by model, and search within one conversation", async () => {
    const get = async (path: string) => server.call("GET", path);
    const ids = async (query: string) =>
      ((await get(`/conversations?${query}`)).json as ListConversationsResponse).conversations.map(
        (meta) => meta.id,
      );
    await server.call("POST", "/conversations", { body: { id: "newer" } });
    const pin = (id: string, pinned: unknown) =>
      server.call("PUT", `/conversations/${id}/pinned`, { body: { pinned } });
    expect((await get("/conversations/c1/pinned")).json).toEqual({ pinned: false });
    expect((await pin("c1", true)).json).toEqual({ pinned: true });
    expect((await get("/conversations/c1/meta")).json).toMatchObject({ id: "c1", pinned: true });
    expect((await ids("pinned=first&limit=1"))[0]).toBe("c1");
    expect((await ids("limit=1"))[0]).toBe("newer");
    expect((await pin("c1", false)).json).toEqual({ pinned: false });
    expect((await get("/conversations/c1/meta")).json).not.toHaveProperty("pinned");
    // Nothing is made by a pin.
    expect((await pin("unknown", true)).status).toBe(404);
    expect((await pin("c1", "yes")).status).toBe(400);
    expect((await get("/conversations?pinned=last")).status).toBe(400);
    expect(await ids("model=scripted/one")).toContain("c1");
    expect(await ids("model=no/model")).toEqual([]);
    const found = (await get("/search?q=hello&conversationId=c1")).json as SearchResponse;
    expect(new Set(found.hits.map(({ conversationId }) => conversationId))).toEqual(new Set(["c1"]));
    expect((await get("/search?q=hello&conversationId=unknown")).status).toBe(404);
  });

  it("ignore fields that they do not know", async () => {
    const answer = await server.call("POST", "/conversations", { body: { id: "extra", shoeSize: 43 } });
    expect(answer.status).toBe(200);
  });

  it("show a window of the log by seq", async () => {
    await chat(server, "again");
    const all = (await server.call("GET", "/conversations/c1")).json as HistoryResponse;
    expect(all.chunks.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    const window = await server.call("GET", "/conversations/c1?sinceSeq=1&beforeSeq=4&limit=1");
    expect(window.json).toMatchObject({ chunks: [{ seq: 3 }], latestSeq: 3 });
    const none = await server.call("GET", "/conversations/c1?sinceSeq=4");
    expect(none.json).toEqual({ chunks: [], latestSeq: 4 });
  });

  it("return the figures of turns page by page, from the newest on", async () => {
    await fourTurns(server);
    const read = async (query: string) =>
      (await server.call("GET", `/conversations/c1/metrics${query}`)).json as MetricsResponse;
    const all = await read("");
    const ids = all.turns.map(({ turnId }) => turnId);
    expect([ids.length, all.nextBefore]).toEqual([4, undefined]);
    const newest = await read("?limit=3");
    expect(newest).toEqual({ turns: all.turns.slice(1), nextBefore: ids[1] });
    expect(await read(`?limit=3&before=${newest.nextBefore}`)).toEqual({ turns: all.turns.slice(0, 1) });
    expect(await read(`?before=${ids[2]}`)).toEqual({ turns: all.turns.slice(0, 2) });
    expect(await read("?limit=4")).toEqual({ turns: all.turns });
    expect(await read(`?limit=4&before=${ids[0]}`)).toEqual({ turns: [] });
    const unknown = await server.call("GET", "/conversations/c1/metrics?before=none");
    expect(unknown.json).toMatchObject({ status: 400, code: "invalid_request" });
    expect((await server.call("GET", "/conversations/c1/metrics?limit=-1")).json).toMatchObject({
      status: 400,
      detail: expect.stringContaining("limit"),
    });
  });

  it("wait for a running turn before they return the last answer", async () => {
    await server.runtime.forOwner("local").send({ conversationId: "slow", message: "please wait" });
    const waiting = server.call("GET", "/conversations/slow/last");
    server.gate.open();
    expect((await waiting).json).toMatchObject({ text: "One moment. You said: please wait", reason: "stop" });
  });

  it("export to someone who leaves without calling it a failure", async () => {
    const lines: string[] = [];
    const logger = createLogger({ level: "warn" }, { write: (line: string) => void lines.push(line) });
    const app = createApp(server.runtime, { auth: "open", logger });
    const asked = server.faults.hold("readChunks");
    const { body } = await app.fetch(new Request("http://localhost/conversations/c1/export"));
    const reader = body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    await asked.reached;
    const left = reader?.cancel();
    asked.open();
    await left;
    await app.close();
    expect(lines).toEqual([]);
  });

  it("export what can be imported again, and what can be read", async () => {
    const exported = await server.call("GET", "/conversations/c1/export?format=jsonl");
    expect(exported.headers.get("content-disposition")).toBe('attachment; filename="c1.jsonl"');
    const lines = jsonLines<ExportLine>(exported.text);
    expect(lines.map(({ type }) => type)).toEqual(["conversation", "chunk", "chunk", "turn"]);
    const first = await server.call("POST", "/import?id=copy", { raw: exported.text });
    expect(first.json).toMatchObject({ created: true, messages: 2, turns: 1 });
    const again = await server.call("POST", "/import?id=copy", { raw: exported.text });
    expect(again.json).toMatchObject({ created: false });
    const readable = await server.call("GET", "/conversations/c1/export?format=markdown");
    expect(readable.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(readable.text).toContain("## User\n\nhello\n\n## Assistant\n\nYou said: hello\n");
  });

  it("name the line of an import that is not as it should be", async () => {
    const { text } = await server.call("GET", "/conversations/c1/export");
    const cut = await server.call("POST", "/import?id=cut", { raw: text.split("\n").slice(0, 2).join("\n") });
    expect(cut.status).toBe(400);
    const broken = await server.call("POST", "/import?id=cut", { raw: `${text.split("\n")[0]}\n{"type":` });
    expect(broken.json).toMatchObject({ code: "invalid_request", detail: "line 2: not valid JSON" });
  });
});
