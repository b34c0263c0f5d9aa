import { errorCodes, errorTrait } from "@parley/core/errors";
import { isRetryable } from "@parley/fold";
import type { ConversationDetail, ErrorCode, ListConversationsResponse, StopResponse } from "@parley/wire";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { WebSocket as NodeWebSocket } from "ws";
import { type ClientOptions, createClient } from "../client.js";
import type { SocketConstructor } from "../connection/socket.js";
import { ParleyRequestError } from "./request-error.js";

interface Asked {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

/** Creates a client whose server answers with `answer`, and records its requests. */
function clientOf(answer: (asked: Asked) => Response | Promise<Response>, more: Partial<ClientOptions> = {}) {
  const asked: Asked[] = [];
  const client = createClient({
    url: "http://parley.test/api/",
    WebSocket: null,
    ...more,
    fetch: async (input, init) => {
      const { body } = init ?? {};
      const one: Asked = {
        url: String(input),
        method: init?.method ?? "",
        headers: init?.headers as Record<string, string>,
        body: body instanceof Blob ? await body.text() : (body as string | undefined),
      };
      asked.push(one);
      init?.signal?.throwIfAborted();
      return answer(one);
    },
  });
  return { client, asked };
}

const ok = (value: unknown) => Response.json(value);

async function failureOf(promise: Promise<unknown>): Promise<ParleyRequestError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof ParleyRequestError) return error;
    throw error;
  }
  throw new Error("It did not fail");
}

describe("calls", () => {
  it("are typed by their route", () => {
    const { client } = clientOf(() => ok({}));
    const calls = () => ({
      meta: client.request("GET /conversations/:id/meta", { params: { id: "c" } }),
      list: client.request("GET /conversations"),
      some: client.request("GET /conversations", { query: { status: ["active", "idle"], limit: 3 } }),
      stop: client.request("POST /conversations/:id/stop", { params: { id: "c" } }),
      // @ts-expect-error the route needs an id
      bare: () => client.request("GET /conversations/:id/meta"),
      // @ts-expect-error the route needs a body
      empty: () => client.request("PUT /conversations/:id/title", { params: { id: "c" } }),
      // @ts-expect-error an unknown status
      wrong: () => client.request("GET /conversations", { query: { status: ["asleep"] } }),
      // @ts-expect-error a stream is not a JSON route
      stream: () => client.request("POST /chat", { body: { message: "Hi" } }),
    });
    expectTypeOf(calls).returns.toHaveProperty("meta").resolves.toEqualTypeOf<ConversationDetail>();
    expectTypeOf(calls).returns.toHaveProperty("list").resolves.toEqualTypeOf<ListConversationsResponse>();
    expectTypeOf(calls).returns.toHaveProperty("stop").resolves.toEqualTypeOf<StopResponse>();
    expect(typeof calls).toBe("function");
    expectTypeOf<typeof globalThis.WebSocket>().toExtend<SocketConstructor>();
    expectTypeOf<typeof NodeWebSocket>().toExtend<SocketConstructor>();
  });

  it("fill in the path, the query, the body and the key", async () => {
    const { client, asked } = clientOf(() => ok({ queue: { messages: [] } }), { apiKey: "pk_secret" });
    await client.request("PATCH /conversations/:id/queue/:messageId", {
      params: { id: "a b/c", messageId: "m:1" },
      body: { mode: "queue", before: null },
    });
    await client.request("GET /conversations/:id", {
      params: { id: "c" },
      query: { sinceSeq: 3, open: true, limit: undefined },
    });
    expect(asked).toEqual([
      {
        url: "http://parley.test/api/conversations/a%20b%2Fc/queue/m%3A1",
        method: "PATCH",
        headers: {
          accept: "application/json",
          authorization: "Bearer pk_secret",
          "content-type": "application/json",
        },
        body: '{"mode":"queue","before":null}',
      },
      {
        url: "http://parley.test/api/conversations/c?sinceSeq=3&open=true",
        method: "GET",
        headers: { accept: "application/json", authorization: "Bearer pk_secret" },
        body: undefined,
      },
    ]);
  });

  it("refuse what cannot be asked", async () => {
    const { client, asked } = clientOf(() => ok({}));
    const error = await failureOf(client.request("GET /conversations/:id/meta", { params: { id: "" } }));
    expect(error).toMatchObject({ code: "invalid_request", message: expect.stringContaining("params.id") });
    expect(asked).toEqual([]);
    expect(() => createClient({ url: "parley.test" })).toThrow('url: "parley.test" is no http address');
  });

  it("fail with what the server says", async () => {
    const problem = {
      title: "A turn is running in this conversation",
      status: 409,
      code: "turn_active",
      error: "turn_active",
      detail: "Wait for it",
      retryable: true,
      requestId: "r1",
    };
    const { client } = clientOf(() => Response.json(problem, { status: 409 }));
    const error = await failureOf(client.request("GET /models"));
    expect(error).toMatchObject({
      name: "ParleyRequestError",
      code: "turn_active",
      status: 409,
      retryable: true,
      requestId: "r1",
      message: "Wait for it",
      problem,
    });
  });

  it.each([
    [401, "unauthorized", false],
    [404, "conversation_not_found", false],
    [413, "too_large", false],
    [502, "network", true],
    [504, "timeout", true],
    [418, "internal", false],
  ] as const)("make sense of a %i that is not Parley's", async (status, code, retryable) => {
    const { client } = clientOf(() => new Response("<html>", { status, headers: { "x-request-id": "p1" } }));
    const error = await failureOf(client.request("GET /models"));
    expect(error).toMatchObject({ code, status, retryable, requestId: "p1" });
  });

  it("distinguish a broken network from a call that was given up", async () => {
    const { client } = clientOf(() => Promise.reject(new TypeError("fetch failed")));
    const error = await failureOf(client.request("GET /models"));
    expect(error).toMatchObject({ code: "network", status: 0, retryable: true });
    expect(error.cause).toBeInstanceOf(TypeError);
    const canceled = await failureOf(client.request("GET /models", { signal: AbortSignal.abort() }));
    expect(canceled).toMatchObject({ code: "canceled", retryable: false });
    const late = AbortSignal.abort(new DOMException("Too slow", "TimeoutError"));
    const slow = await failureOf(client.request("GET /models", { signal: late }));
    expect(slow).toMatchObject({ code: "timeout", retryable: true });
  });

  it("say so when the answer is no JSON", async () => {
    const { client } = clientOf(() => new Response("<html>"));
    const error = await failureOf(client.request("GET /models"));
    expect(error).toMatchObject({ code: "internal", message: expect.stringContaining("not JSON") });
  });

  it("take the word of a server that is not ready", async () => {
    const body = { ready: false, store: true, schema: true, draining: true };
    const { client } = clientOf(() => Response.json(body, { status: 503 }));
    expect(await client.request("GET /ready")).toEqual(body);
  });

  it("know which failures may be over later", () => {
    const known = errorCodes.filter((code: ErrorCode) => isRetryable(code));
    expect(known).toEqual(errorCodes.filter((code) => errorTrait(code).retryable));
    expect(isRetryable("toString")).toBe(false);
  });
});

describe("a message over HTTP", () => {
  const sent = { conversationId: "c", messageId: "m", message: "Hi", ifBusy: "queue" as const };

  it("is answered with the turn that it opened, which is left alone", async () => {
    const event = { type: "user-message", conversationId: "c", turnId: "t", text: "Hi" };
    let isLeft = false;
    const body = () =>
      new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode(`${JSON.stringify(event)}\n`)),
        cancel: () => {
          isLeft = true;
        },
      });
    const { client, asked } = clientOf(() => new Response(body(), { headers: { "x-message-id": "made" } }));
    const receipt = { conversationId: "c", messageId: "m", outcome: "started", turnId: "t" };
    expect(await client.send(sent)).toEqual(receipt);
    expect(asked[0]).toMatchObject({ method: "POST", body: JSON.stringify(sent) });
    expect(isLeft).toBe(true);
    const { messageId: _, ...unnamed } = sent;
    expect(await client.send(unnamed)).toEqual({ ...receipt, messageId: "made" });
  });

  it("is answered with its receipt when it waits", async () => {
    const receipt = { conversationId: "c", messageId: "m", outcome: "queued" };
    const { client } = clientOf(() => Response.json(receipt, { status: 202 }));
    expect(await client.send(sent)).toEqual(receipt);
  });
});

describe("a chat over HTTP", () => {
  const events = [
    { type: "user-message", conversationId: "c", turnId: "t", text: "Hi" },
    { type: "text-delta", conversationId: "c", turnId: "t", delta: "Hällo" },
    { type: "turn-sealed", conversationId: "c", turnId: "t", reason: "stop" },
  ];
  const lines = (some: readonly unknown[]) => some.map((event) => `${JSON.stringify(event)}\n`).join("");

  it("gives the events through the seal", async () => {
    const { client, asked } = clientOf(() => new Response(lines(events)));
    const received: unknown[] = [];
    for await (const event of client.chat({ message: "Hi", messageId: "m" })) received.push(event);
    expect(received).toEqual(events);
    expect(asked[0]).toMatchObject({ method: "POST", body: '{"message":"Hi","messageId":"m"}' });
  });

  it("fails when it breaks off before the end", async () => {
    const { client } = clientOf(() => new Response(lines(events.slice(0, 2))));
    const reading = (async () => {
      for await (const _ of client.chat({ message: "Hi" }));
    })();
    expect(await failureOf(reading)).toMatchObject({ code: "network", retryable: true });
  });

  it("fails as canceled when it is given up in the middle", async () => {
    const stop = new AbortController();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode(lines(events.slice(0, 1))));
        stop.signal.addEventListener("abort", () => controller.error(stop.signal.reason));
      },
    });
    const { client } = clientOf(() => new Response(body));
    const reading = (async () => {
      for await (const _ of client.chat({ message: "Hi" }, { signal: stop.signal })) stop.abort();
    })();
    expect(await failureOf(reading)).toMatchObject({ code: "canceled" });
  });
});

describe("following by server-sent events", () => {
  const frame = (n: number) => ({
    type: "chat.delta",
    event: { type: "text-delta", conversationId: "c", turnId: "t", delta: String(n) },
    cursor: `1~t~1~${n}`,
  });
  const sse = (...ns: number[]) =>
    new Response(
      ns.map((n) => `event: delta\nid: 1~t~1~${n}\ndata: ${JSON.stringify(frame(n))}\n\n`).join(""),
    );

  it("comes back by the newest cursor until it is given up", async () => {
    const stop = new AbortController();
    const answers = [() => sse(1, 2), () => new Response("", { status: 503 }), () => sse(3)];
    const { client, asked } = clientOf(() => (answers.shift() ?? (() => sse()))(), { random: () => 0 });
    const received: unknown[] = [];
    for await (const message of client.follow("c", { signal: stop.signal, cursor: "0" })) {
      received.push(message);
      if (received.length === 3) stop.abort();
    }
    expect(received).toEqual([frame(1), frame(2), frame(3)]);
    expect(asked.map(({ url }) => new URL(url).searchParams.get("cursor"))).toEqual([
      "0",
      "1~t~1~2",
      "1~t~1~2",
    ]);
  });

  it("ends where the server refuses permanently", async () => {
    const { client } = clientOf(() => new Response("", { status: 404 }));
    const reading = (async () => {
      for await (const _ of client.follow("c"));
    })();
    expect(await failureOf(reading)).toMatchObject({ code: "conversation_not_found" });
  });
});

describe("export and import", () => {
  const lines = ['{"type":"conversation","text":"a}\\n"}', '{"type":"chunk"}'];

  it("gives whole lines", async () => {
    const { client, asked } = clientOf(() => new Response(`${lines.join("\n")}\n`));
    const received: string[] = [];
    for await (const line of client.exportConversation("c", "jsonl")) received.push(line);
    expect(received).toEqual(lines.map((line) => `${line}\n`));
    expect(asked[0]?.url).toBe("http://parley.test/api/conversations/c/export?format=jsonl");
  });

  it.each([
    ["one text", `${lines.join("\n")}\n`],
    ["lines", lines],
    ["lines with their ends", lines.map((line) => `${line}\n`)],
    ["pieces of any size", [...`${lines.join("\n")}\n`]],
  ])("takes %s", async (_, given) => {
    const { client, asked } = clientOf(() => ok({ created: true }));
    await client.importConversation(given, { id: "copy" });
    const sent = asked[0]?.body?.split("\n").filter((line) => line !== "");
    expect(sent).toEqual(lines);
    expect(asked[0]).toMatchObject({ url: "http://parley.test/api/import?id=copy", method: "POST" });
    expect(asked[0]?.headers["content-type"]).toBe("application/x-ndjson");
  });
});
