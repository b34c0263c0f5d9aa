import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { boundClient } from "./bounded-client.js";

/** Connects to a server that never answers. */
async function silentSocket(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

it("a connection counts as silent from the call on, and from no time before it", async () => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  for (let round = 0; round < 40; round += 1) {
    const stream = await silentSocket(port);
    const Base = class {
      readonly connection = { stream };
    };
    const client = new (boundClient(Base as unknown as typeof pg.Client, 100))();
    const closed = new Promise((resolve) => stream.once("close", resolve));
    const calledAt = performance.now();
    client.limitSilence(3);
    await closed;
    expect(client.silentSince).toBeGreaterThanOrEqual(calledAt);
  }
});
