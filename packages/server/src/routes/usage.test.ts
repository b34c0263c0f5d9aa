import type { TurnDetail, UsageResponse } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../test-server.test-support.js";

async function say(server: TestServer, owner: string, model: string): Promise<string> {
  const me = server.runtime.forOwner(owner);
  const { conversationId } = await me.send({ message: "hello", model });
  await me.last(conversationId);
  return conversationId;
}

const read = async (server: TestServer, key: string, query = "") =>
  (await server.call("GET", `/usage${query}`, { key })).json as UsageResponse;

describe("GET /usage", () => {
  it("sums the caller's own calls, by model, with those of unknown cost counted", async () => {
    const server = await startTestServer({ auth: "keys" });
    const key = await server.key("ann", ["read"]);
    await say(server, "ann", "scripted/one");
    await say(server, "ann", "scripted/two");
    await say(server, "ben", "scripted/two");
    const { groups, total, by } = await read(server, key, "?by=model");
    const usage = { inputTokens: 20, outputTokens: 8 };
    const amounts = [{ currency: "USD", billed: 0, estimated: 0.1 }];
    expect(by).toBe("model");
    expect(groups).toEqual([
      { model: "scripted/two", calls: 1, unknownCalls: 0, amounts, usage },
      { model: "scripted/one", calls: 1, unknownCalls: 1, amounts: [], usage },
    ]);
    expect(total).toMatchObject({ calls: 2, unknownCalls: 1, amounts });
  });

  it("shows other owners to an admin alone", async () => {
    const server = await startTestServer({ auth: "keys" });
    await say(server, "ann", "scripted/two");
    await say(server, "ben", "scripted/two");
    const own = await server.key("ann", ["read", "write"]);
    for (const query of ["?owner=ben", "?owners=all", "?owners=all&by=owner"]) {
      expect((await server.call("GET", `/usage${query}`, { key: own })).status).toBe(403);
    }
    expect((await server.call("GET", "/usage?owner=ann", { key: own })).status).toBe(200);
    const admin = await server.key("root", ["admin"]);
    expect((await read(server, admin, "?owner=ben")).total.calls).toBe(1);
    expect((await read(server, admin)).total.calls).toBe(0);
    const { groups } = await read(server, admin, "?owners=all&by=owner");
    expect(groups.map(({ owner, calls }) => [owner, calls])).toEqual([
      ["ann", 1],
      ["ben", 1],
    ]);
  });

  it("refuses what cannot be summed, by the field", async () => {
    const server = await startTestServer();
    for (const query of [
      "from=1.1.2026",
      "from=2026-02-30",
      "by=hour",
      "by=owner",
      "limit=0",
      "owner=a&owners=all",
      "from=2024-01-01&to=2026-01-01",
    ]) {
      const { status, text } = await server.call("GET", `/usage?${query}`);
      expect([query, status]).toEqual([query, 400]);
      expect(text).toMatch(/from|by|limit|owners/);
    }
  });
});

describe("the cost of a call", () => {
  it("is read with its turn, with the prices of then; models have theirs", async () => {
    const server = await startTestServer();
    const id = await say(server, "local", "scripted/two");
    const [metrics] = await server.runtime.forOwner("local").metrics(id);
    const detail = (await server.call("GET", `/conversations/${id}/turns/${metrics?.turnId}`))
      .json as TurnDetail;
    expect(detail.providerCalls[0]).toMatchObject({
      cost: { amount: 0.1, currency: "USD", source: "estimated" },
      prices: { input: 1_000, output: 10_000 },
    });
    expect((await server.call("GET", "/models")).json).toMatchObject({
      modelInfo: { "scripted/two": { prices: { input: 1_000 } } },
    });
  });

  it("is exported and imported as it was, and not counted again", async () => {
    const server = await startTestServer();
    const id = await say(server, "local", "scripted/two");
    const { text } = await server.call("GET", `/conversations/${id}/export`);
    await server.call("POST", "/import?id=copy", { raw: text });
    const me = server.runtime.forOwner("local");
    const [metrics] = await me.metrics("copy");
    expect(metrics?.cost).toEqual((await me.metrics(id))[0]?.cost);
    expect((await me.turn("copy", metrics?.turnId ?? "")).providerCalls[0]?.cost?.amount).toBe(0.1);
    expect((await me.usage()).total.calls).toBe(1);
  });

  it("is counted by model and purpose, never by conversation", async () => {
    const server = await startTestServer();
    await say(server, "local", "scripted/two");
    await say(server, "local", "scripted/one");
    const { text } = await server.call("GET", "/metrics");
    expect(text).toContain(
      'parley_cost_total{model="scripted/two",purpose="step",currency="USD",source="estimated"} 0.1',
    );
    expect(text).toContain('parley_calls_of_unknown_cost_total{model="scripted/one",purpose="step"} 1');
  });
});
