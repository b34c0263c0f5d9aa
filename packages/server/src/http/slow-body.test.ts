import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { createManualClock } from "@parley/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { defaultServerPace } from "../limits/server-limits.js";
import { startTestServer } from "../test-server.test-support.js";
import { watchBody } from "./slow-body.js";

const pace = {
  ...defaultServerPace,
  bodyIntervalMs: 10_000,
  bodyIntervalBytes: 1_000,
  bodyTotalMs: 60_000,
};

describe("a body on its way", () => {
  /** Creates a body whose arrival the test controls, and records its outcome. */
  function watched() {
    const clock = createManualClock();
    const incoming = { socket: { bytesRead: 500 }, complete: false, destroyed: false, readableLength: 0 };
    const outcome = { refusal: undefined as string | undefined };
    const watch = watchBody(incoming as unknown as IncomingMessage, { pace, clock });
    watch.inTime(new Promise<never>(() => {})).catch(({ message }: Error) => {
      outcome.refusal = message;
    });
    return { clock, incoming, outcome, watch };
  }

  it("is late when it makes too little progress in an interval", async () => {
    const { clock, incoming, outcome } = watched();
    incoming.socket.bytesRead += 1_000;
    await clock.advance(10_000);
    expect(outcome.refusal).toBeUndefined();
    incoming.socket.bytesRead += 999;
    await clock.advance(10_000);
    expect(outcome.refusal).toContain("bodyIntervalMs");
    expect(clock.pending).toBe(0);
  });

  it("is in time while it makes progress, and late as a whole in the end", async () => {
    const { clock, incoming, outcome } = watched();
    for (let interval = 0; interval < 5; interval += 1) {
      incoming.socket.bytesRead += 1_000;
      await clock.advance(10_000);
    }
    expect(outcome.refusal).toBeUndefined();
    incoming.socket.bytesRead += 1_000;
    await clock.advance(10_000);
    expect(outcome.refusal).toContain("bodyTotalMs");
  });

  it("is not late when it is here, or waits here to be read", async () => {
    const { clock, incoming, outcome } = watched();
    incoming.readableLength = 64_000;
    await clock.advance(20_000);
    expect(outcome.refusal).toBeUndefined();
    incoming.readableLength = 0;
    incoming.complete = true;
    await clock.advance(20_000);
    expect(outcome.refusal).toBeUndefined();
    expect(clock.pending).toBe(0);
  });

  it("is not watched any more once it is read", async () => {
    const { clock, outcome, watch } = watched();
    watch.stop();
    expect(clock.pending).toBe(0);
    await clock.advance(20_000);
    expect(outcome.refusal).toBeUndefined();
  });
});

describe("a request whose body drips", () => {
  const routes = [
    ["POST /chat", "Content-Type: application/json", '{"message":"'],
    ["POST /import", "Content-Type: application/x-ndjson", '{"type":"conversation",'],
  ] as const;
  const framings = [
    ["Content-Length: 100000", (text: string) => text],
    ["Transfer-Encoding: chunked", (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`],
  ] as const;
  const cases = routes.flatMap(([route, type, begun]) =>
    framings.map(([length, framed]) => ({ route, type, begun, length, framed })),
  );

  it.each(cases)("is answered with 408 and cut: $route, $length", async (given) => {
    const { route, type, begun, length, framed } = given;
    const clock = createManualClock();
    const server = await startTestServer({ clock, pace });
    const own = clock.pending;
    const { received, closed, write } = await send(
      server.server.port,
      `${route} HTTP/1.1\r\nHost: localhost\r\n${type}\r\n${length}\r\n\r\n${framed(begun)}`,
    );
    // Watched from the first read.
    await vi.waitFor(() => expect(clock.pending).toBeGreaterThan(own), 30_000);
    await write(framed("x"));
    await clock.advance(pace.bodyIntervalMs);
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 408 /);
    expect(received()).toMatch(/connection: close/i);
    expect(received()).toContain('"code":"timeout"');
  });

  it("is not one that is steady: an import in many pieces is read to its end", async () => {
    const server = await startTestServer({ pace: { ...pace, bodyIntervalMs: 60_000, bodyTotalMs: 120_000 } });
    const title = "x".repeat(300_000);
    const line = `${JSON.stringify({ type: "conversation", title })}\n`;
    const { received, closed, write } = await send(
      server.server.port,
      `POST /import HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${line.length}\r\n\r\n`,
    );
    for (let start = 0; start < line.length; start += 10_000) await write(line.slice(start, start + 10_000));
    await closed;
    // Whatever the answer to its content is: all of it was read.
    expect(received()).toMatch(/^HTTP\/1\.1 (200|400) /);
  });
});

/** Sends the beginning of a request by hand. */
async function send(port: number, text: string) {
  const socket: Socket = connect(port, "127.0.0.1");
  onTestFinished(() => {
    socket.destroy();
  });
  let received = "";
  socket.setEncoding("utf8").on("data", (piece: string) => {
    received += piece;
  });
  socket.on("error", () => {});
  const closed = once(socket, "close");
  const write = (piece: string) => new Promise<void>((resolve) => socket.write(piece, () => resolve()));
  await once(socket, "connect");
  await write(text);
  return { received: () => received, closed, write };
}
