import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { createLogger } from "./logging.js";
import { startTestServer, type TestServer } from "./test-server.test-support.js";

describe("a body that breaks off", () => {
  const gone = { msg: "request", level: 30, status: 499, code: "canceled" };

  /** All that is logged until a request of this route is answered. */
  function watchLog(route: string) {
    const soFar: unknown[] = [];
    let tell = (_: unknown[]) => {};
    const lines = new Promise<unknown[]>((resolve) => {
      tell = resolve;
    });
    const write = (line: string) => {
      const entry = JSON.parse(line) as { route?: string; status?: number };
      soFar.push(entry);
      if (entry.route === route && entry.status !== undefined) tell(soFar);
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
