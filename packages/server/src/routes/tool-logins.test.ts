import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { problemOf, startTestServer } from "../test-server.test-support.js";
import { GivenLogins } from "./tool-logins.test-support.js";

/** Opens an address like a browser that follows a link of another page; `fetch` sets these headers itself. */
async function navigate(
  url: string,
  headers: Record<string, string>,
): Promise<{ status: number; text: string }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(
      url,
      { headers: { ...headers, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" } },
      resolve,
    ).on("error", reject);
  });
  return { status: response.statusCode ?? 0, text: await text(response) };
}

async function start() {
  const source = new GivenLogins();
  const server = await startTestServer({ auth: "keys", toolSource: source });
  const key = await server.key("ann", ["read", "approve"]);
  return { source, server, key };
}

describe("logins at servers of tools", () => {
  it("are begun for the owner of the key, and come back to this server with a cookie of the browser", async () => {
    const { source, server, key } = await start();
    const begun = await server.call("POST", "/tools/tracker/connect", { key, body: {} });
    expect(begun.json).toEqual({ authorizationUrl: "https://login.example/authorize?state=s", expiresAt: 1 });
    const cookie = begun.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^parley_oauth=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
    const browser = /parley_oauth=([\w-]+)/.exec(cookie)?.[1];
    const redirectUrl = `${server.url}/oauth/callback`;
    expect(source.asked).toEqual([["start", "ann", "tracker", { redirectUrl, browser }]]);

    const path = "/oauth/callback?code=c&state=s&iss=https%3A%2F%2Flogin.example";
    const back = await navigate(server.url + path, { cookie: `parley_oauth=${browser}` });
    expect([back.status, back.text]).toEqual([200, "Connected to tracker. You can close this window."]);
    expect(source.asked.at(-1)).toEqual([
      "finish",
      { code: "c", state: "s", iss: "https://login.example" },
      { browser },
    ]);
    await server.call("GET", path);
    expect(source.asked.at(-1)).toEqual(["finish", expect.anything(), { browser: "" }]);
    expect((await server.call("GET", "/oauth/callback?state=other&code=c")).status).toBe(400);
    expect((await server.call("GET", "/oauth/callback")).status).toBe(400);
    // A script of another page is refused earlier.
    const script = {
      "sec-fetch-site": "cross-site",
      "sec-fetch-mode": "cors",
      origin: "https://evil.example",
    };
    expect((await server.call("GET", path, { headers: script })).status).toBe(403);
  });

  it("come back to a program on the caller's machine, which finishes them with its key, and nowhere else", async () => {
    const { source, server, key } = await start();
    const connect = (redirectUrl: string) =>
      server.call("POST", "/tools/tracker/connect", { key, body: { redirectUrl } });
    const begun = await connect("http://127.0.0.1:5555/callback");
    expect([begun.status, begun.headers.get("set-cookie")]).toEqual([200, null]);
    expect(source.asked).toEqual([
      ["start", "ann", "tracker", { redirectUrl: "http://127.0.0.1:5555/callback" }],
    ]);
    for (const elsewhere of [
      "https://evil.example/oauth/callback",
      "http://10.0.0.1/x",
      "javascript:alert(1)",
      "x",
    ]) {
      expect(problemOf(await connect(elsewhere))).toMatchObject({
        status: 400,
        errors: [{ path: "redirectUrl" }],
      });
    }
    const body = { state: "s", code: "c" };
    expect((await server.call("POST", "/tools/tracker/finish", { key, body })).json).toEqual({
      server: "tracker",
    });
    expect(source.asked.at(-1)).toEqual(["finish", body, { owner: "ann" }]);
  });

  it("are a person's: they need the scope approve", async () => {
    const { source, server, key } = await start();
    const writer = await server.key("ann", ["write"]);
    for (const verb of ["connect", "finish", "disconnect"]) {
      const body = { state: "s", code: "c" };
      expect((await server.call("POST", `/tools/tracker/${verb}`, { key: writer, body })).status).toBe(403);
    }
    expect(source.asked).toEqual([]);
    const gone = await server.call("POST", "/tools/tracker/disconnect", { key });
    expect(gone.json).toEqual({ server: "tracker", removed: true });
    expect(source.asked).toEqual([["disconnect", "ann", "tracker"]]);
  });

  it("show in the list of tools, to each owner its own", async () => {
    const { server, key } = await start();
    const states = async (secret: string) =>
      (await server.call("GET", "/tools", { key: secret })).json as { servers: readonly { state: string }[] };
    expect(await states(key)).toMatchObject({
      servers: [{ name: "tracker", state: "ready", auth: "oauth" }],
    });
    expect(await states(await server.key("bob"))).toMatchObject({ servers: [{ state: "unconnected" }] });
  });

  it("are refused where no server wants one", async () => {
    const server = await startTestServer();
    expect(problemOf(await server.call("POST", "/tools/x/connect", { body: {} })).status).toBe(400);
    expect((await server.call("GET", "/oauth/callback?state=s&code=c")).status).toBe(400);
  });
});
