import { type Clock, systemClock, type Tool } from "@parley/core";
import type { FileLimits, RuntimeLimits } from "@parley/core/runtime";
import { createRuntime, openModelConnections, type Runtime } from "@parley/core/runtime";
import type { ToolSource } from "@parley/core/turn";
import {
  createFaultyStore,
  createMemoryLogStore,
  createMemoryWake,
  createPlainSecrets,
  createRecordingWebhooks,
  createScriptedProvider,
  type Gate,
  gate,
  pause,
  type RecordingWebhooks,
  type ScriptedProvider,
  type ScriptSource,
  type StoreFaults,
  text,
  toolCall,
  usage,
} from "@parley/testing";
import type { KeyScope, Problem, WsServerMessage } from "@parley/wire";
import { afterEach } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import { createApp } from "./app.js";
import { createKey } from "./auth/api-key.js";
import { createFileDeriver } from "./derive/file-deriver.js";
import { unpublishedStatus } from "./published-status.test-support.js";
import { type RunningServer, type ServeOptions, serve } from "./serve.js";
import type { EventLog } from "./telemetry/event-log.js";
import { createTelemetryHooks } from "./telemetry/telemetry.js";

/** A server on the memory store, to be called over real sockets. */
export interface TestServer {
  readonly url: string;
  readonly runtime: Runtime;
  readonly server: RunningServer;
  readonly faults: StoreFaults;
  readonly provider: ScriptedProvider;
  /** Answers to a message that says "wait" continue when this is opened. */
  readonly gate: Gate;
  /** Creates a key and returns its secret. */
  key(owner: string, scopes?: readonly KeyScope[]): Promise<string>;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  socket(options?: SocketOptions): Promise<TestSocket>;
}

export interface CallOptions {
  readonly key?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: unknown;
}

export interface TestServerOptions extends Omit<ServeOptions, "clock"> {
  /** Of the server only; the runtime uses the machine's. */
  readonly clock?: Clock;
  readonly script?: (gate: Gate) => ScriptSource;
  readonly runtimeLimits?: Partial<RuntimeLimits>;
  readonly fileLimits?: Partial<FileLimits>;
  /** Beside the one that every test server has. */
  readonly tools?: readonly Tool<never>[];
  /** Source of further tools. */
  readonly toolSource?: ToolSource;
  /** Where failures of turns are logged. Default: nowhere. */
  readonly eventLog?: EventLog;
  /** Receiver of webhooks. Default: none, successfully. */
  readonly webhooks?: RecordingWebhooks;
}

const started: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of started.splice(0).reverse()) await stop();
});

/**
 * Returns a script that echoes the message, waits at the gate first if the message asks to wait, and calls a tool of
 * the caller if it asks to show a page.
 */
function echo(at: Gate): ScriptSource {
  return ({ messages }) => {
    const last = messages.findLast(({ role }) => role === "user")?.content.at(-1);
    const said = last?.type === "text" ? last.text : "";
    if (said === "page" && messages.at(-1)?.role === "user") return [toolCall("page", {})];
    const answer = [text(`You said: ${said}`, { size: 6 }), usage(20, 8)];
    return said.includes("wait") ? [text("One moment. "), pause(at), ...answer] : answer;
  };
}

/** A tool that a script may call. */
const look: Tool = {
  name: "look",
  description: "Looks at something",
  execute: () => "It looks fine.",
};

/** Starts a server; it stops by itself after the test. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { script = echo, runtimeLimits, fileLimits, clock, tools = [], ...others } = options;
  const { webhooks = createRecordingWebhooks(), toolSource, eventLog, ...rest } = others;
  const at = gate();
  const provider = createScriptedProvider(script(at));
  const { store, faults } = createFaultyStore(createMemoryLogStore({ clock: systemClock }));
  const telemetry = createTelemetryHooks({ processFigures: false });
  const model = { provider, providerName: "scripted", contextWindow: 100_000 };
  const wake = createMemoryWake();
  const bindings = [
    { ...model, name: "scripted/one", model: "one" },
    { ...model, name: "scripted/two", model: "two", prices: { input: 1_000, output: 10_000 } },
  ];
  const models = bindings.map(({ model: name }) => ({ name }));
  const connections = await openModelConnections({
    secrets: createPlainSecrets(store.secrets),
    wake,
    pollMs: 0,
    configured: [
      { info: { name: "scripted", kind: "scripted", source: "file", hasKey: true, models }, bindings },
    ],
    providers: {
      kinds: [{ kind: "scripted", title: "Scripted", key: "required", baseUrl: "optional" }],
      check: () => {},
      discover: async ({ apiKey }) =>
        apiKey === "sk-wrong" ? { problem: "the key was refused (401)", code: "provider_auth" } : { models },
      bind: async (name, _, listed) =>
        listed.map((each) => ({ ...model, name: `${name}/${each.name}`, model: each.name })),
    },
  });
  const runtime = await createRuntime({
    store,
    wake,
    models: connections.catalog,
    connections,
    tools: [look, ...tools],
    hooks: {
      onEvent(event, context) {
        telemetry.onEvent(event, context);
        eventLog?.onEvent(event, context);
      },
      onCall: telemetry.onCall,
      onWebhookAttempt: telemetry.onWebhookAttempt,
    },
    webhooks: { transport: webhooks.transport },
    ...(toolSource === undefined ? {} : { toolSource }),
    ...(runtimeLimits === undefined ? {} : { limits: runtimeLimits }),
    files: { limits: fileLimits ?? {}, deriver: createFileDeriver() },
  });
  const server = await serve(runtime, {
    port: 0,
    telemetry,
    ...rest,
    ...(clock === undefined ? {} : { clock }),
  });
  let contract: object | undefined;
  const sockets: TestSocket[] = [];
  started.push(async () => {
    faults.heal();
    at.open();
    for (const socket of sockets) socket.raw.terminate();
    await server.close({ deadlineMs: 0 });
    await runtime.close();
  });
  return {
    url: server.url,
    runtime,
    server,
    faults,
    provider,
    gate: at,
    async key(owner, scopes) {
      const { secret, record } = createKey({ owner, ...(scopes === undefined ? {} : { scopes }) });
      await runtime.keys.add(record);
      return secret;
    },
    async call(method, path, call) {
      const answer = await callServer(server.url, method, path, call);
      if (answer.status < 400 || answer.status > 499) return answer;
      contract ??= await contractOf(runtime, rest.faces);
      const problem = unpublishedStatus(contract, { method, path, status: answer.status });
      if (problem !== undefined) throw new Error(`${problem}: ${answer.text}`);
      return answer;
    },
    async socket(socketOptions) {
      const socket = await openTestSocket(server.url, socketOptions);
      sockets.push(socket);
      return socket;
    },
  };
}

/** The contract of a server with these faces, asked for in the process: no limit counts it. */
async function contractOf(runtime: Runtime, faces: ServeOptions["faces"]): Promise<object> {
  const app = createApp(runtime, { auth: "open", ...(faces === undefined ? {} : { faces }) });
  const answer = await app.fetch(new Request("http://localhost/openapi.json"));
  await app.close();
  return (await answer.json()) as object;
}

/** Calls and reads the whole answer. */
export async function callServer(
  url: string,
  method: string,
  path: string,
  { key, body, raw, headers = {}, signal }: CallOptions = {},
): Promise<Answer> {
  const content = body === undefined ? raw : JSON.stringify(body);
  const response = await fetch(url + path, {
    method,
    redirect: "manual",
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(content === undefined ? {} : { body: content as BodyInit }),
    ...(signal === undefined ? {} : { signal }),
  });
  const answered = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text: answered,
    get json() {
      return JSON.parse(answered) as unknown;
    },
  };
}

/** Returns the problem of an answer. */
export function problemOf(answer: Answer): Problem {
  if (!answer.headers.get("content-type")?.startsWith("application/problem+json")) {
    throw new Error(`Not a problem: ${answer.status} ${answer.text.slice(0, 200)}`);
  }
  return answer.json as Problem;
}

export interface SocketOptions extends ClientOptions {
  readonly key?: string;
  readonly protocols?: readonly string[];
}

/** A client's end of a socket. */
export class TestSocket {
  readonly raw: WebSocket;
  readonly messages: WsServerMessage[] = [];
  /** Number of messages in each frame. */
  readonly frames: number[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #read = 0;
  #isClosed = false;
  #wake: () => void = () => {};

  constructor(raw: WebSocket) {
    this.raw = raw;
    raw.on("message", (data) => {
      const value = JSON.parse(String(data)) as WsServerMessage | WsServerMessage[];
      const values = Array.isArray(value) ? value : [value];
      this.frames.push(values.length);
      this.messages.push(...values);
      this.#wake();
    });
    raw.on("error", () => {});
    this.closed = new Promise((resolve) => {
      raw.once("close", (code, reason) => {
        this.#isClosed = true;
        this.#wake();
        resolve({ code, reason: String(reason) });
      });
    });
  }

  send(message: unknown): void {
    this.raw.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  /** Returns the next message of this type that was not read yet; those before it are skipped. */
  async next<Type extends WsServerMessage["type"]>(
    type: Type,
    matches: (message: WsServerMessage & { type: Type }) => boolean = () => true,
  ): Promise<WsServerMessage & { type: Type }> {
    for (;;) {
      while (this.#read < this.messages.length) {
        const message = this.messages[this.#read] as WsServerMessage & { type: Type };
        this.#read += 1;
        if (message.type === type && matches(message)) return message;
      }
      if (this.#isClosed) throw new Error(`The socket was closed before ${type} came`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Returns the next event of this type. */
  async event(type: string) {
    return (await this.next("chat.delta", ({ event }) => event.type === type)).event;
  }
}

/** Opens a socket; rejects when the handshake fails, with the status in the message. */
export async function openTestSocket(url: string, options: SocketOptions = {}): Promise<TestSocket> {
  const { key, protocols = ["parley.v1"], ...rest } = options;
  const offered = [...protocols, ...(key === undefined ? [] : [`bearer.${key}`])];
  const socket = new TestSocket(new WebSocket(`${url.replace("http", "ws")}/ws`, offered, rest));
  await new Promise<void>((resolve, reject) => {
    socket.raw.once("open", resolve);
    socket.raw.once("error", reject);
  });
  return socket;
}

/** One parsed server-sent event. */
export interface SseEvent {
  readonly event?: string;
  readonly id?: string;
  readonly data?: string;
  readonly comment?: string;
  readonly retry?: string;
}

/** Reads server-sent events one by one. */
export async function* readSse(response: Response): AsyncGenerator<SseEvent> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  for await (const bytes of response.body ?? []) {
    const piece = decoder.decode(bytes, { stream: true });
    pieces.push(piece);
    // A long event arrives in many pieces: they are only joined when it may be complete.
    if (!piece.includes("\n\n") && !piece.startsWith("\n")) continue;
    const parts = pieces.join("").split("\n\n");
    pieces = [parts.pop() ?? ""];
    for (const part of parts) {
      const fields: Record<string, string> = {};
      for (const line of part.split("\n")) {
        const colon = line.indexOf(":");
        const name = line.slice(0, colon);
        fields[name === "" ? "comment" : name] = line.slice(colon + 1).trimStart();
      }
      yield fields;
    }
  }
}

/** Returns the lines of an NDJSON answer. */
export function jsonLines<T>(body: string): T[] {
  return body
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}
