import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { createManualClock, reasoning, text } from "@parley/testing";
import { describe, expect, it, vi } from "vitest";
import { createApp } from "../app.js";
import { problemOf, readSse, startTestServer, type TestServer } from "../test-server.test-support.js";

const path = "/conversations/c1/export";

async function talk(server: TestServer, owner: string): Promise<void> {
  const me = server.runtime.forOwner(owner);
  await me.send({ conversationId: "c1", message: "hello" });
  await me.last("c1");
}

describe("an export", () => {
  it("counts among the connections of a key while it runs", async () => {
    const server = await startTestServer({ limits: { connectionsPerKey: 1 } });
    await talk(server, "local");
    const asked = server.faults.hold("readChunks");
    const running = await fetch(server.url + path);
    await asked.reached;
    expect((await server.call("GET", "/conversations/c1/events")).status).toBe(429);
    const second = await server.call("GET", path);
    expect([second.status, problemOf(second).code]).toEqual([429, "limit_exceeded"]);
    asked.open();
    const whole = await running.text();
    // It is over, and refused or failed exports and HEAD requests are not counted.
    expect((await server.call("HEAD", path)).status).toBe(200);
    expect((await server.call("GET", "/conversations/none/export")).status).toBe(404);
    expect((await server.call("GET", path)).text).toBe(whole);
  });

  it("counts within the process until it was read, and not where nothing is to be read", async () => {
    const server = await startTestServer();
    await talk(server, "local");
    const app = createApp(server.runtime, { auth: "open", limits: { connectionsPerKey: 1 } });
    const ask = (method: string) => app.fetch(new Request(`http://localhost${path}`, { method }));
    try {
      expect((await ask("HEAD")).status).toBe(200);
      const running = await ask("GET");
      expect((await ask("GET")).status).toBe(429);
      await running.text();
      const left = await ask("GET");
      await left.body?.cancel();
      expect((await ask("GET")).status).toBe(200);
    } finally {
      await app.close();
    }
  });

  it("breaks off when its key is revoked, and gives the reader no reason to take it for the whole", async () => {
    const server = await startTestServer({ auth: "keys", clock: createManualClock() });
    const [admin, key] = [await server.key("ann", ["admin"]), await server.key("bob")];
    await talk(server, "bob");
    const asked = server.faults.hold("readChunks");
    const running = await fetch(server.url + path, { headers: { authorization: `Bearer ${key}` } });
    await asked.reached;
    const bobs = (await server.runtime.keys.list()).find(({ owner }) => owner === "bob");
    await server.call("DELETE", `/keys/${bobs?.id}`, { key: admin });
    asked.open();
    await expect(running.text()).rejects.toThrow("terminated");
  });

  it.each([
    ["", {}],
    [", also after the offer of another protocol", { connection: "Upgrade", upgrade: "h2c" }],
  ])("that no client reads is broken off after a while%s; a silent stream continues", async (_, headers) => {
    const server = await startTestServer({
      limits: { connectionsPerKey: 2 },
      pace: { unreadMs: 50 },
      // More than a connection buffers for a reader that does not read.
      script: () =>
        Array.from({ length: 40 }, () => [reasoning("And so on:"), text("x".repeat(500_000))]).flat(),
    });
    await talk(server, "local");
    await server.runtime.forOwner("local").create({ id: "c2" });
    const silent = readSse(await fetch(`${server.url}/conversations/c2/events`));
    expect((await silent.next()).value).toEqual({ retry: "2000" });
    const [unread] = (await once(request(server.url + path, { headers }).end(), "response")) as [
      IncomingMessage,
    ];
    unread.pause();
    // Another one is accepted when it is over.
    await vi.waitFor(async () => expect((await server.call("HEAD", path)).status).toBe(200), 30_000);
    await expect(once(unread.resume(), "end")).rejects.toThrow("aborted");
    await server.runtime.forOwner("local").remove("c2");
    expect((await silent.next()).value).toEqual({ comment: "conversation_not_found" });
  });
});
