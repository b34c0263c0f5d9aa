import { json, type MisbehavingServer, type Script, startServer, transports } from "@parley/testing/http";
import { afterEach, describe, expect, it } from "vitest";
import { DefaultHttpClient } from "../http-client.js";
import type { HttpMethod } from "../request/request-options.js";

const servers: MisbehavingServer[] = [];

async function serve(script: Script): Promise<MisbehavingServer> {
  const server = await startServer(script);
  servers.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const redirectTo =
  (status: number, location: string): Script =>
  (response, request) => {
    if (request.path !== "/start") return json(response, 200, { path: request.path });
    response.writeHead(status, { location });
    response.end("moved");
  };

describe.each(transports)("redirects over %s", (_, transport) => {
  const client = new DefaultHttpClient({ clientName: "test", transport });

  it.each([
    [301, "POST", "GET", ""],
    [302, "POST", "GET", ""],
    [303, "PUT", "GET", ""],
    [307, "POST", "POST", "payload"],
    [308, "PUT", "PUT", "payload"],
    [301, "PUT", "PUT", "payload"],
  ] as const)("follows a %i of a %s with a %s", async (status, method, then, body) => {
    const server = await serve(redirectTo(status, "/end?x=1#here"));
    const response = await client.requestRaw({
      operation: "o",
      method,
      url: `${server.url}/start`,
      body: "payload",
    });
    expect(await response.json()).toEqual({ path: "/end?x=1" });
    expect(response.redirected).toBe(true);
    expect(response.url).toBe(`${server.url}/end?x=1`);
    const last = server.seen[1];
    expect([last?.method, last?.body, last?.headers["content-type"] !== undefined]).toEqual([
      then,
      body,
      body !== "",
    ]);
  });

  it("keeps credentials on the same origin and drops them across origins", async () => {
    const target = await serve((response) => json(response, 200, {}));
    const origin = await serve((response, request) => {
      const location = request.path === "/start" ? "/next" : `${target.url}/end`;
      response.writeHead(307, { location });
      response.end();
    });
    const headers = { Authorization: "Bearer key", Cookie: "a=b", "x-plain": "kept", "X-Api-Key": "key" };
    await client.requestJson({ operation: "o", method: "GET", url: `${origin.url}/start`, headers });
    expect(origin.seen[1]?.headers).toMatchObject({ authorization: "Bearer key", "x-api-key": "key" });
    expect(target.seen[0]?.headers).toMatchObject({ "x-plain": "kept" });
    for (const name of ["authorization", "cookie", "x-api-key"]) {
      expect(target.seen[0]?.headers[name]).toBeUndefined();
    }
  });

  it.each([301, 302, 303, 307, 308])(
    "refuses a %i of a POST to another origin, naming its host",
    async (status) => {
      const target = await serve((response) => json(response, 200, {}));
      const origin = await serve((response) => {
        response.writeHead(status, { location: `${target.url}/end?key=location-secret` });
        response.end();
      });
      const failure: unknown = await client
        .requestJson({
          operation: "o",
          method: "POST",
          url: `${origin.url}/start?key=url-secret`,
          headers: { authorization: "Bearer header-secret" },
          body: { prompt: "prompt-secret" },
        })
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({ status, retryable: false, reason: "redirect_refused" });
      expect(String(failure)).toContain(new URL(target.url).host);
      expect(JSON.stringify(failure) + String(failure)).not.toContain("secret");
      expect(target.seen).toHaveLength(0);
      expect(origin.seen).toHaveLength(1);
    },
  );

  it("refuses another origin behind a redirect on the same one", async () => {
    const target = await serve((response) => json(response, 200, {}));
    const origin = await serve((response, request) => {
      response.writeHead(307, { location: request.path === "/start" ? "/next" : target.url });
      response.end();
    });
    const request = {
      operation: "o",
      method: "POST" as HttpMethod,
      url: `${origin.url}/start`,
      body: "prompt",
    };
    await expect(client.requestText(request)).rejects.toMatchObject({ reason: "redirect_refused" });
    expect(origin.seen.map(({ body }) => body)).toEqual(["prompt", "prompt"]);
    expect(target.seen).toHaveLength(0);
  });

  it("gives up on redirects without end", async () => {
    const server = await serve((response, _request, n) => {
      response.writeHead(302, { location: `/${n}` });
      response.end();
    });
    await expect(
      client.requestText({ operation: "o", method: "GET", url: server.url }),
    ).rejects.toMatchObject({ status: 0 });
    expect(server.seen).toHaveLength(21);
  });

  it("does not follow if following is turned off", async () => {
    const server = await serve(redirectTo(302, "/end"));
    const request = { operation: "o", method: "GET" as HttpMethod, url: `${server.url}/start` };
    const manual = client.requestRaw({ ...request, fetchOptions: { redirect: "manual" } });
    await expect(manual).rejects.toMatchObject({ status: 302, category: "unknown" });
    const error = client.requestRaw({ ...request, fetchOptions: { redirect: "error" } });
    await expect(error).rejects.toMatchObject({ status: 0 });
    expect(server.seen).toHaveLength(2);
  });

  it("does not send a stream again", async () => {
    const server = await serve(redirectTo(307, "/end"));
    const body = new Blob(["once"]).stream();
    await expect(
      client.requestText({ operation: "o", method: "POST", url: `${server.url}/start`, body }),
    ).rejects.toMatchObject({ status: 0 });
    expect(server.seen).toHaveLength(1);
  });
});

describe("a redirect that the platform hides, as a browser does", () => {
  const calls: (string | undefined)[] = [];
  const client = new DefaultHttpClient({
    clientName: "test",
    transport: async (url, { redirect }) => {
      calls.push(redirect);
      const head = { statusText: "", url, headers: new Headers(), body: null };
      return redirect === "manual"
        ? { ...head, status: 0, redirected: false }
        : { ...head, status: 200, redirected: true };
    },
  });

  it("is left to the platform for a GET, and refused for a POST", async () => {
    const url = "http://127.0.0.1/start";
    const response = await client.requestRaw({ operation: "o", method: "GET", url });
    expect([response.status, response.redirected, ...calls]).toEqual([200, true, "manual", "follow"]);
    const post = client.requestRaw({ operation: "o", method: "POST", url, body: "prompt" });
    await expect(post).rejects.toMatchObject({ status: 0, reason: "redirect_refused" });
    expect(calls).toEqual(["manual", "follow", "manual"]);
  });
});
