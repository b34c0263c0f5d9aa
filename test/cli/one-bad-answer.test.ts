import { chatChunk, startOpenAIHttpServer } from "@parley/testing/openai";
import { describe, expect, it, onTestFinished } from "vitest";
import { Workplace } from "./parley-process.js";

describe("one bad answer of a model's server", { timeout: 120_000 }, () => {
  it("disables the model for no owner: not for the one who got it, not for another", async () => {
    const overflow = {
      object: "error",
      message: "This model's maximum context length is 300 tokens. However, you requested 9000 tokens.",
      type: "BadRequestError",
      code: 400,
    };
    const model = await startOpenAIHttpServer(async (answer, _, n) => {
      if (n === 1) return answer.json(413, { detail: "Payload Too Large" });
      if (n === 3) return answer.json(400, overflow);
      await answer.send([chatChunk({ content: `Answer ${n}.` }), chatChunk({}, "stop"), "[DONE]"]);
      answer.end();
    });
    onTestFinished(() => model.close());
    const place = new Workplace({
      store: { folder: ".parley", durable: false },
      titleModel: "none",
      models: { local: { kind: "compatible", baseUrl: `${model.url}/v1`, models: ["m"] } },
      instructions: "Answer briefly. ".repeat(200),
    });
    onTestFinished(() => place.remove());
    const server = await place.serve();
    const post = async (path: string, body: object, key?: string) => {
      const headers = {
        "content-type": "application/json",
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      };
      const response = await fetch(`${server.url}${path}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      return response.text();
    };
    const createKey = async (body: object, key?: string) =>
      (JSON.parse(await post("/keys", body, key)) as { secret: string }).secret;
    const bob = await createKey({ scopes: ["read", "write", "admin"], owner: "bob" });
    const alice = await createKey({ scopes: ["read", "write"], owner: "alice" }, bob);
    const ask = (key: string) => post("/chat", { message: "Hi" }, key);

    // Bytes, not tokens: nothing is learned.
    expect(await ask(bob)).toContain('"code":"too_large"');
    expect(await ask(bob)).toContain("Answer 2.");
    expect(server.output().stdout).not.toContain("context window changed");
    // A limit that the next answers disprove.
    expect(await ask(bob)).toContain('"code":"context_overflow"');
    expect(await ask(alice)).toContain("Answer 4.");
    expect(await ask(bob)).toContain("Answer 5.");
    expect(model.seen).toHaveLength(5);
    await server.end();
    const logged = server
      .output()
      .stdout.split("\n")
      .filter((line) => line.includes("context window changed"))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(logged[0]).toMatchObject({ model: "local/m", owner: "bob", scope: "owner", source: "named" });
  });
});
