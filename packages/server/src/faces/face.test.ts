import { z } from "@hono/zod-openapi";
import { ParleyError } from "@parley/core";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { faceEndpoint } from "../http/endpoint.js";
import { problemOf, startTestServer } from "../test-server.test-support.js";
import { createFaceApp } from "./create-face-app.js";
import type { Face } from "./face.js";

/** A protocol with two routes and failures of its own shape. */
const sample: Face = {
  name: "sample",
  path: "/sample",
  endpoints: [
    faceEndpoint("POST /", {
      operationId: "sayWhoCalls",
      summary: "Say who calls",
      access: "write",
      body: z.object({ word: z.string() }),
      response: z.object({ owner: z.string(), word: z.string() }),
      handle: async ({ caller, body }) => ({ owner: caller.owner, word: body.word }),
    }),
    faceEndpoint("GET /:id/thing", {
      operationId: "fail",
      summary: "Fail",
      access: "read",
      params: z.object({ id: z.string() }),
      response: z.object({}),
      handle: ({ params }) => {
        throw new ParleyError("conversation_not_found", `no ${params.id}`);
      },
    }),
  ],
  describeFailure: (error) => ({ body: { error: { code: error.code } }, headers: { "x-sample": "1" } }),
};

const plain: Face = { name: sample.name, path: sample.path, endpoints: sample.endpoints };

describe("a face", () => {
  it("is mounted by the server, with its keys, scopes, methods and contract", async () => {
    const server = await startTestServer({ faces: [sample], auth: "keys" });
    const [writer, reader] = [await server.key("ann"), await server.key("ann", ["read"])];
    const body = { word: "w" };
    expect((await server.call("POST", "/sample", { key: writer, body })).json).toEqual({
      owner: "ann",
      word: "w",
    });
    expect((await server.call("POST", "/sample", { key: reader, body })).status).toBe(403);
    expect((await server.call("POST", "/sample", { body })).status).toBe(401);
    expect((await server.call("POST", "/sample", { key: writer, body: {} })).status).toBe(400);
    const wrong = await server.call("DELETE", "/sample", { key: writer });
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
    const document = (await server.call("GET", "/openapi.json")).json as { paths: object };
    expect(document.paths).toMatchObject({ "/sample": { post: {} }, "/sample/{id}/thing": { get: {} } });
  });

  it("answers failures in its own shape, also those of the checks before its routes", async () => {
    const server = await startTestServer({ faces: [sample] });
    const answers = [
      await server.call("GET", "/sample/x/thing"),
      await server.call("GET", "/sample/nowhere"),
      await server.call("POST", "/sample", { body: { word: "w" }, headers: { origin: "https://evil.org" } }),
    ];
    expect(answers.map(({ status, json }) => [status, json])).toEqual([
      [404, { error: { code: "conversation_not_found" } }],
      [404, { error: { code: "invalid_request" } }],
      [403, { error: { code: "forbidden" } }],
    ]);
    expect(answers.map(({ headers }) => headers.get("x-sample"))).toEqual(["1", "1", "1"]);
    expect(problemOf(await server.call("GET", "/nowhere")).code).toBe("invalid_request");
  });

  it("answers with problems where it has no shape of its own", async () => {
    const server = await startTestServer({ faces: [plain] });
    expect(problemOf(await server.call("GET", "/sample/x/thing"))).toMatchObject({ detail: "no x" });
  });
});

describe("a face in a host's application", () => {
  it("is mounted at any path, and asks the host who calls", async () => {
    const { runtime } = await startTestServer({ auth: "keys" });
    const face = createFaceApp(runtime, sample, {
      authenticate: (request) => {
        const owner = request.headers.get("x-user");
        return owner === null ? undefined : { owner, scopes: owner === "ann" ? ["write"] : ["read"] };
      },
    });
    const host = new Hono().route("/deep/down", face.hono);
    const post = (headers: Record<string, string>) =>
      host.request("https://app.example.org/deep/down", {
        method: "POST",
        headers: { "content-type": "application/json", host: "app.example.org", ...headers },
        body: JSON.stringify({ word: "w" }),
      });
    const answer = await post({ "x-user": "ann" });
    expect([answer.status, await answer.json()]).toEqual([200, { owner: "ann", word: "w" }]);
    expect((await post({ "x-user": "bob" })).status).toBe(403);
    expect((await post({})).status).toBe(401);
    const foreign = await post({ "x-user": "ann", origin: "https://evil.org" });
    expect([foreign.status, await foreign.json()]).toEqual([403, { error: { code: "forbidden" } }]);
    expect((await host.request("/deep/down/x/thing", { headers: { "x-user": "bob" } })).status).toBe(404);
    await face.close();
  });

  it("answers at its base path, without a framework around it", async () => {
    const { runtime } = await startTestServer();
    const face = createFaceApp(runtime, plain, { basePath: "/api/sample" });
    const answer = await face.fetch(
      new Request("http://localhost/api/sample", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ word: "w" }),
      }),
    );
    expect(await answer.json()).toEqual({ owner: "local", word: "w" });
    await face.close();
  });
});
