import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { ReadableStream as WebStream } from "node:stream/web";
import { systemClock } from "@parley/core";
import fc from "fast-check";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import type { AppEnv } from "../app-env.js";
import { defaultServerPace } from "../limits/server-limits.js";
import { createLogger } from "../telemetry/logging.js";
import { startTestServer, type TestServer } from "../test-server.test-support.js";
import { readJsonLines } from "./read-body.js";

/** Reads a body of NDJSON that arrives in these pieces. */
async function readPieces(pieces: readonly Uint8Array[]): Promise<unknown[]> {
  const values: unknown[] = [];
  const app = new Hono<AppEnv>().post("/", async (c) => {
    for await (const value of readJsonLines(c, { pace: defaultServerPace, clock: systemClock }, 100_000_000))
      values.push(value);
    return c.body(null);
  });
  const body = WebStream.from(pieces);
  const answer = await app.request("/", { method: "POST", body, duplex: "half" } as RequestInit);
  expect(answer.status).toBe(200);
  return values;
}

/** Cuts these bytes at these places. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const bounds = [
    0,
    ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b),
    bytes.length,
  ];
  return bounds.slice(1).map((end, index) => bytes.subarray(bounds[index], end));
}

describe("the lines of a body", () => {
  it("are the same wherever it is cut into pieces", async () => {
    const line = fc.oneof(
      fc.constant(""),
      fc.json(),
      fc.string({ unit: "grapheme" }).map((text) => JSON.stringify(text)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(line),
        fc.constantFrom("\n", "\r\n"),
        fc.array(fc.nat()),
        async (lines, ending, places) => {
          const bytes = new TextEncoder().encode(lines.join(ending));
          const values = lines.filter((each) => each !== "").map((each) => JSON.parse(each) as unknown);
          expect(await readPieces(cut(bytes, places))).toEqual(values);
          expect(await readPieces([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(values);
        },
      ),
    );
  });

  it("cost about as much in a thousand pieces as in one", async () => {
    const long = "x".repeat(16_000_000);
    const bytes = new TextEncoder().encode(`"${long}"\n7`);
    const inPieces = cut(
      bytes,
      Array.from({ length: 1_000 }, (_, index) => index * 16_000),
    );
    const millisecondsFor = async (pieces: readonly Uint8Array[]) => {
      const from = performance.now();
      const values = await readPieces(pieces);
      const taken = performance.now() - from;
      expect([values[0] === long, values[1]]).toEqual([true, 7]);
      return taken;
    };
    const whole: number[] = [];
    const cutUp: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      whole.push(await millisecondsFor([bytes]));
      cutUp.push(await millisecondsFor(inPieces));
    }
    // An implementation that searches everything again with each piece needs about a hundred times as long.
    expect(Math.min(...cutUp) / Math.min(...whole)).toBeLessThan(10);
  });
});

describe("a body that breaks off", () => {
  const gone = { msg: "request", level: 30, status: 499, code: "canceled" };

  /** Collects the log until a request of this route is answered. */
  function watchLog(route: string) {
    const soFar: unknown[] = [];
    let finish = (_: unknown[]) => {};
    const lines = new Promise<unknown[]>((resolve) => {
      finish = resolve;
    });
    const write = (line: string) => {
      const entry = JSON.parse(line) as { route?: string; status?: number };
      soFar.push(entry);
      if (entry.route === route && entry.status !== undefined) finish(soFar);
    };
    return { lines, logger: createLogger({}, { write }) };
  }

  async function begin(server: TestServer, route: string, length: string, begun: string): Promise<Socket> {
    const socket = connect(server.server.port, "127.0.0.1");
    const head = `${route} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${length}\r\n\r\n`;
    await new Promise<void>((resolve) => socket.write(head + begun, () => resolve()));
    return socket;
  }

  async function leave(socket: Socket): Promise<void> {
    socket.destroy();
    await once(socket, "close");
  }

  it.each([
    ["POST /import", "Content-Length: 1000", '{"type":"conversation",'],
    ["POST /import", "Transfer-Encoding: chunked", '17\r\n{"type":"conversation",\r\n'],
    ["POST /import", "Transfer-Encoding: chunked", "2\r\n{}\r\n"],
    ["POST /chat", "Content-Length: 1000", '{"message":'],
    ["POST /chat", "Transfer-Encoding: chunked", 'b\r\n{"message":\r\n'],
  ])("is not the server's failure: %s with %s", async (route, length, begun) => {
    const log = watchLog(route);
    const server = await startTestServer({ logger: log.logger });
    await leave(await begin(server, route, length, begun));
    expect(await log.lines).toMatchObject([gone]);
  });

  it("is not either when it did before anyone read it", async () => {
    const log = watchLog("POST /import");
    const server = await startTestServer({ logger: log.logger });
    const asked = server.faults.hold("keys.list");
    const socket = await begin(server, "POST /import", "Content-Length: 1000", '{"type":');
    await asked.reached;
    await leave(socket);
    asked.open();
    expect(await log.lines).toMatchObject([gone]);
  });
});
