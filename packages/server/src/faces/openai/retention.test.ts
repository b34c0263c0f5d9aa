import { createModelCatalog, createRuntime } from "@parley/core/runtime";
import {
  createMemoryDatabase,
  createMemoryLogStore,
  createMemoryWake,
  createScriptedProvider,
  text,
} from "@parley/testing";
import { expect, it } from "vitest";
import { serve } from "../../serve.js";
import { callServer } from "../../test-server.test-support.js";

const day = 86_400_000;

it("removes responses that are conversations of their own after their last use, and nothing else", async () => {
  let now = Date.now();
  const clock = { now: () => now };
  const database = createMemoryDatabase(clock);
  const provider = createScriptedProvider(() => [text("Hello.")]);
  const model = { name: "test/one", provider, providerName: "test", model: "one", contextWindow: 1_000 };
  const start = (responseRetentionMs?: number) =>
    createRuntime({
      store: createMemoryLogStore({ clock, database }),
      wake: createMemoryWake(),
      models: createModelCatalog([model]),
      ...(responseRetentionMs === undefined ? {} : { responseRetentionMs }),
    });
  const runtime = await start();
  const server = await serve(runtime, { port: 0 });
  const call = (method: string, path: string, body?: object) =>
    callServer(server.url, method, path, body === undefined ? {} : { body });
  const respond = async (body: object) => (await call("POST", "/v1/responses", body)).json as { id: string };
  const statusOf = async ({ id }: { id: string }) => (await call("GET", `/v1/responses/${id}`)).status;
  try {
    const old = await respond({ input: "old" });
    const goneOn = await respond({ input: "gone on with" });
    const forked = await respond({ input: "forked" });
    await respond({ input: "behind", previous_response_id: forked.id });
    const { id: conversation } = (await call("POST", "/v1/conversations", {})).json as { id: string };
    const inside = await respond({ input: "inside", conversation });
    const stateless = await respond({ input: "not kept", store: false });
    expect(await statusOf(stateless)).toBe(404);
    now += 20 * day;
    const young = await respond({ input: "young" });
    await respond({ input: "again", previous_response_id: goneOn.id });
    const branch = await respond({ input: "a branch", previous_response_id: forked.id });
    now += 15 * day;

    const sweeper = await start(30 * day);
    await expect.poll(() => statusOf(old)).toBe(404);
    await sweeper.close();
    for (const kept of [goneOn, inside, young, branch]) expect(await statusOf(kept)).toBe(200);
    expect((await call("GET", `/v1/conversations/${conversation}`)).status).toBe(200);
    const { conversations } = await runtime.forOwner("local").list({ withResponses: true, limit: 100 });
    // The branch is a fork of a deleted conversation, and keeps its rows.
    expect(conversations).toHaveLength(4);
  } finally {
    await server.close({ deadlineMs: 0 });
    await runtime.close();
  }
});
