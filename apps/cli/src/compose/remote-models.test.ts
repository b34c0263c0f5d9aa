import { describe, expect, it } from "vitest";
import { listRemoteModels } from "./remote-models.js";

const credential = {
  kind: "compatible",
  name: "local",
  baseUrl: "http://127.0.0.1:1/v1",
} as unknown as Parameters<typeof listRemoteModels>[0];

/** Answers with pieces of a body, and counts the pieces that were asked for. */
function answering(piece: string, pieces: number) {
  let sent = 0;
  const body = () =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent === pieces) controller.close();
        else controller.enqueue(new TextEncoder().encode(piece));
        sent += 1;
      },
    });
  return { fetch: async () => new Response(body()), sent: () => sent };
}

describe("asking a provider for its models", () => {
  it("reads the names of the list", async () => {
    const { fetch } = answering('{"data":[{"id":"a"},{"id":"b"}]}', 1);
    expect(await listRemoteModels(credential, { fetch })).toMatchObject({
      models: [{ name: "a" }, { name: "b" }],
    });
  });

  it("reads the windows where servers write them, and nothing that is none", async () => {
    const data = [
      { id: "openrouter", context_length: 163_840 },
      { id: "vllm", max_model_len: 32_768 },
      { id: "lm-studio", max_context_length: 8_192 },
      { id: "llama.cpp", meta: { n_ctx: 4_096, n_ctx_train: 131_072 } },
      { id: "none", context_length: "many", max_model_len: -1 },
    ];
    const { fetch } = answering(JSON.stringify({ data }), 1);
    const listed = await listRemoteModels(credential, { fetch });
    expect("models" in listed && listed.models.map(({ contextWindow }) => contextWindow)).toEqual([
      163_840,
      32_768,
      8_192,
      4_096,
      undefined,
    ]);
  });

  it("stops reading an answer that is not a list, however long it is", async () => {
    const { fetch, sent } = answering("x".repeat(1_000_000), 1_000);
    expect(await listRemoteModels(credential, { fetch })).toMatchObject({
      problem: expect.stringContaining("does not answer as an API of models does"),
    });
    expect(sent()).toBeLessThan(20);
  });
});
