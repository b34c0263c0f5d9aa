import { Agent, request } from "node:http";
import { connect } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createLogger } from "@parley/server";
import { createRecordingWebhooks, type RecordingWebhooks } from "@parley/testing";
import { describe, expect, it } from "vitest";
import { unpublishedStatus } from "../../packages/server/src/published-status.test-support.js";
import {
  startTestServer,
  type TestServer,
  type TestSocket,
} from "../../packages/server/src/test-server.test-support.js";
import { type GeneratedRequest, generateFrame, generateRawBytes, generateRequest, ids } from "./generate.js";
import { createRandom } from "./random.js";

const seed = Number(process.env.PARLEY_FUZZ_SEED ?? 20_261_115);
const requests = 11_000;
const rawRequests = 1_000;
const frames = 8_000;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Sends a request and returns its status; of a stream that would not end, only that. */
function send(server: TestServer, agent: Agent, generated: GeneratedRequest): Promise<number> {
  return new Promise((resolve) => {
    const { method, path, headers, body } = generated;
    const call = request(server.url + path, {
      agent,
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "content-length": String(body.length) }) },
    });
    call.on("response", (response) => {
      resolve(response.statusCode ?? 0);
      if (response.headers["content-type"]?.startsWith("text/event-stream")) response.destroy();
      else response.resume();
    });
    // A request that cannot be sent, or is cut off while it is sent, has no answer of the server.
    call.on("error", () => resolve(0));
    call.end(body);
  });
}

/** Sends bytes and returns the status of each answer, until the server closes or sends nothing more. */
function sendRaw(port: number, bytes: Buffer): Promise<number[]> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.on("data", (piece) => {
      answer += piece.toString("latin1");
      socket.end();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      resolve([...answer.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map((match) => Number(match[1])));
    });
    socket.write(bytes);
    // An incomplete request gets no answer: its sender leaves.
    setImmediate(() => setImmediate(() => socket.end()));
  });
}

/** Runs `count` pieces of work, some at a time. */
async function inLanes(count: number, lanes: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (next < count) {
        next += 1;
        await work(next);
      }
    }),
  );
}

/** Returns the heap after everything was deleted: what still takes memory is kept by the server itself. */
async function heapAtRest(server: TestServer, webhooks: RecordingWebhooks): Promise<number> {
  const me = server.runtime.forOwner("local");
  for (;;) {
    const { conversations } = await me.list({ limit: 200, withResponses: true });
    if (conversations.length === 0) break;
    for (const { id } of conversations) await me.remove(id, { cascade: true });
  }
  // No list names those that a request has made temporary.
  for (const id of [...ids, "forked"]) await me.remove(id, { cascade: true });
  // The records of the test's own instruments are dropped, too.
  (server.faults.calls as unknown[]).length = 0;
  (server.provider.calls as unknown[]).length = 0;
  (webhooks.posts as unknown[]).length = 0;
  for (let time = 0; time < 3; time += 1) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

describe(`${requests + rawRequests + frames} generated requests and frames (seed ${seed})`, () => {
  it("crash nothing, get no 5xx, and leave no memory behind", { timeout: 120_000 }, async () => {
    const random = createRandom(seed);
    const unexpected: string[] = [];
    const logger = createLogger({ level: "error" }, { write: (line: string) => void unexpected.push(line) });
    const webhooks = createRecordingWebhooks();
    const server = await startTestServer({
      auth: "open",
      logger,
      webhooks,
      limits: { requestsPerSecond: 1e9, requestBurst: 1e9, failedLogins: 1e9 },
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const failed: string[] = [];
    const statuses = new Map<number, number>();
    const contract = (await server.call("GET", "/openapi.json")).json as object;
    const unpublished = new Set<string>();
    const note = (status: number, what: () => string) => {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status >= 500) failed.push(`${status}: ${what()}`);
    };

    let socket: TestSocket | undefined;
    const codes = new Map<string, number>();
    const sendFrame = async () => {
      if (socket === undefined || socket.raw.readyState !== socket.raw.OPEN) {
        socket = await server.socket({ protocols: [random.pick(["parley.v1", "parley.v1.batch"])] });
        socket.raw.on("message", (data) => {
          const text = String(data);
          for (const [, code = ""] of text.matchAll(/"type":"(?:chat\.)?error"[^{}]*?"code":"(\w+)"/g)) {
            codes.set(code, (codes.get(code) ?? 0) + 1);
          }
        });
      }
      // Received messages are counted, not kept: the test's own memory is not what is measured.
      socket.messages.length = 0;
      socket.frames.length = 0;
      const frame = generateFrame(random);
      socket.raw.send(frame, { binary: typeof frame !== "string" });
      if (random.chance(0.004)) socket.raw.close();
      if (random.chance(0.002)) socket.raw.terminate();
      if (random.chance(0.05)) await new Promise((resolve) => setImmediate(resolve));
    };

    const round = async (share: number) => {
      await inLanes(Math.round(requests * share), 16, async () => {
        const generated = generateRequest(random);
        const status = await send(server, agent, generated);
        note(status, () => JSON.stringify(generated).slice(0, 500));
        const problem = unpublishedStatus(contract, { ...generated, status });
        if (problem !== undefined) unpublished.add(problem);
      });
      for (let count = 0; count < frames * share; count += 1) await sendFrame();
      await inLanes(Math.round(rawRequests * share), 8, async () => {
        const bytes = generateRawBytes(random);
        for (const status of await sendRaw(server.server.port, bytes))
          note(status, () => bytes.toString("latin1"));
      });
      if (socket?.raw.readyState === socket?.raw.OPEN) {
        // Everything before it has been answered when this is.
        const ponged = new Promise((resolve) => socket?.raw.once("pong", resolve));
        socket?.raw.ping();
        await ponged;
      }
    };
    // The first round also fills what is filled once: compiled code, caches, the document.
    await round(0.4);
    const before = await heapAtRest(server, webhooks);
    await round(0.6);
    const after = await heapAtRest(server, webhooks);

    expect(failed.slice(0, 10)).toEqual([]);
    expect([...unpublished].slice(0, 10)).toEqual([]);
    expect(unexpected.slice(0, 5)).toEqual([]);
    expect([...codes.keys()].filter((code) => code === "internal")).toEqual([]);
    // The generator produces the statuses it is meant to.
    for (const status of [200, 400, 403, 404, 405, 409, 415])
      expect(statuses.get(status)).toBeGreaterThan(10);
    expect(codes.get("invalid_request")).toBeGreaterThan(100);
    expect((await server.call("GET", "/ready")).status).toBe(200);
    expect((after - before) / 1e6).toBeLessThan(5);
    agent.destroy();
  });
});
