import { describe, expect, it } from "vitest";
import { startTestServer } from "../../test-server.test-support.js";

const requests = {
  "/v1/responses": { input: "wait", store: false },
  "/v1/chat/completions": { messages: [{ role: "user", content: "wait" }] },
};

describe("a request that leaves nothing behind", () => {
  it.each(
    Object.entries(requests).flatMap(([path, body]) => [
      { path, body },
      { path, body: { ...body, stream: true } },
    ]),
  )("ends when its caller leaves: $path, $body.stream", async ({ path, body }) => {
    const server = await startTestServer();
    const leave = new AbortController();
    const answer = server.call("POST", path, { body, signal: leave.signal });
    answer.catch(() => {});
    await server.gate.reached;
    leave.abort();
    await expect(answer).rejects.toThrow();
    await expect.poll(() => server.provider.calls[0]?.state).toBe("canceled");
    await expect.poll(() => server.runtime.status().runningTurns).toBe(0);
    const { conversations } = await server.runtime.forOwner("local").list({ withResponses: true });
    expect(conversations).toEqual([]);
  });
});
