import { createManualClock } from "@parley/testing";
import type { CreateKeyResponse, KeysResponse } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { type Answer, startTestServer, type TestServer } from "../test-server.test-support.js";
import { hashSecret, looksLikeSecret } from "./api-key.js";
import { createLogin, looksLikeToken } from "./login.js";
import { clearedCookies, loginCookie, readLoginCookie } from "./login-cookie.js";

/** Returns the cookie that an answer sets, as the browser sends it back. */
function cookieOf(answer: { headers: Headers }): string {
  const set = answer.headers.getSetCookie().find((line) => line.startsWith("parley_login=pl_"));
  return set?.split(";")[0] ?? "";
}

async function logIn(server: TestServer, key: string): Promise<string> {
  return cookieOf(await server.call("POST", "/login", { body: { key } }));
}

function me(server: TestServer, headers: Record<string, string>): Promise<Answer> {
  return server.call("GET", "/me", { headers });
}

describe("a login", () => {
  it("is a random token of its own, kept as a hash, and neither is accepted as the other", async () => {
    const { token, record } = createLogin({ keyId: "k", owner: "ann", now: 5, holdsMs: 10 });
    expect([looksLikeToken(token), looksLikeSecret(token)]).toEqual([true, false]);
    expect(record).toMatchObject({ keyId: "k", owner: "ann", createdAt: 5, expiresAt: 15 });
    expect(record.hash).toBe(hashSecret(token));
    const server = await startTestServer({ auth: "keys" });
    const key = await server.key("ann");
    const cookie = await logIn(server, key);
    expect(cookie).not.toContain(key);
    const [, value = ""] = cookie.split("=");
    expect((await me(server, { cookie: `parley_login=${key}` })).status).toBe(401);
    expect((await me(server, { cookie: `parley_key=${key}` })).status).toBe(401);
    expect((await me(server, { authorization: `Bearer ${value}` })).status).toBe(401);
    const socket = await server.socket({ key: value });
    expect((await socket.closed).code).toBe(4401);
  });

  it("is what a page trades its key for: out of reach of scripts and of other sites", async () => {
    const server = await startTestServer({ auth: "keys" });
    const key = await server.key("ann");
    const wrong = await server.call("POST", "/login", { body: { key: "pk_wrong" } });
    expect([wrong.status, wrong.headers.get("set-cookie")]).toEqual([401, null]);
    const login = await server.call("POST", "/login", { body: { key } });
    expect(login.json).toMatchObject({ owner: "ann", scopes: ["read", "write"], auth: "keys" });
    expect(login.headers.getSetCookie().at(-1)).toMatch(
      /^parley_login=pl_[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
    );
    // A cookie of an earlier version held the key itself: it is removed.
    expect(login.headers.getSetCookie()).toContainEqual(
      expect.stringMatching(/^parley_key=; Path=\/; Max-Age=0;/),
    );
    const cookie = cookieOf(login);
    expect((await me(server, { cookie })).status).toBe(200);
    const socket = await server.socket({ headers: { cookie, origin: server.url } });
    await socket.next("catalog");
  });

  it("ends with the logout at once, with its connections, and no other does", async () => {
    const server = await startTestServer({ auth: "keys", clock: createManualClock() });
    const key = await server.key("ann");
    const [cookie, other] = [await logIn(server, key), await logIn(server, key)];
    const socket = await server.socket({ headers: { cookie, origin: server.url } });
    const stays = await server.socket({ headers: { cookie: other, origin: server.url } });
    const bearer = await server.socket({ key });
    for (const each of [socket, stays, bearer]) await each.next("catalog");
    const logout = await server.call("POST", "/logout", { headers: { cookie } });
    expect(logout.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^parley_login=; Path=\/; Max-Age=0;/),
      expect.stringMatching(/^parley_key=; Path=\/; Max-Age=0;/),
    ]);
    expect((await socket.closed).code).toBe(4401);
    expect((await me(server, { cookie })).status).toBe(401);
    expect((await me(server, { cookie: other })).status).toBe(200);
    for (const each of [stays, bearer]) {
      each.send({ type: "ping" });
      await each.next("pong");
    }
    // A second logout is not a failure.
    expect((await server.call("POST", "/logout", { headers: { cookie } })).status).toBe(200);
    expect((await server.call("POST", "/logout")).json).toEqual({ loggedOut: true });
  });

  it("ends everywhere when its owner says so, or an admin", async () => {
    const server = await startTestServer({ auth: "keys" });
    const [key, strangers] = [await server.key("ann"), await server.key("bob", ["admin"])];
    const [one, two, third] = [
      await logIn(server, key),
      await logIn(server, key),
      await logIn(server, strangers),
    ];
    await server.call("POST", "/logout", { headers: { cookie: one }, body: { everywhere: true } });
    for (const cookie of [one, two]) expect((await me(server, { cookie })).status).toBe(401);
    expect((await me(server, { cookie: third })).status).toBe(200);
    const again = await logIn(server, key);
    const { keys } = (await server.call("GET", "/keys", { key: strangers })).json as KeysResponse;
    const { id = "" } = keys.find(({ owner }) => owner === "ann") ?? {};
    const ended = await server.call("DELETE", `/keys/${id}/logins`, { key: strangers });
    expect(ended.json).toEqual({ id, ended: 1 });
    expect((await me(server, { cookie: again })).status).toBe(401);
    expect((await server.call("GET", "/me", { key })).status).toBe(200);
  });

  it("ends with its key at once, and has the scopes that its key has", async () => {
    const server = await startTestServer({ auth: "keys", clock: createManualClock() });
    const admin = await server.key("ann", ["admin"]);
    const made = await server.call("POST", "/keys", { key: admin, body: { owner: "bob", scopes: ["read"] } });
    const { key, secret } = made.json as CreateKeyResponse;
    const cookie = await logIn(server, secret);
    expect((await me(server, { cookie })).json).toMatchObject({
      owner: "bob",
      scopes: ["read"],
      auth: "keys",
    });
    const write = await server.call("POST", "/conversations", { headers: { cookie }, body: {} });
    expect(write.status).toBe(403);
    const socket = await server.socket({ headers: { cookie, origin: server.url } });
    await socket.next("catalog");
    await server.call("DELETE", `/keys/${key.id}`, { key: admin });
    expect((await me(server, { cookie })).status).toBe(401);
    expect((await socket.closed).code).toBe(4401);
  });

  it("that ends on another node stops working within moments, and so do its connections", async () => {
    const clock = createManualClock();
    const server = await startTestServer({ auth: "keys", clock });
    const cookie = await logIn(server, await server.key("ann"));
    const socket = await server.socket({ headers: { cookie, origin: server.url } });
    await socket.next("catalog");
    await server.runtime.keys.removeLogins({});
    await clock.advance(3_000);
    expect((await socket.closed).code).toBe(4401);
    expect((await me(server, { cookie })).status).toBe(401);
  });

  it("lasts as long as it is used, and ends when it is not", async () => {
    const clock = createManualClock();
    const most = 10 * 60_000;
    const server = await startTestServer({ auth: "keys", clock, pace: { loginMs: most } });
    const key = await server.key("ann");
    const cookie = await logIn(server, key);
    for (let month = 0; month < 3; month += 1) {
      await clock.advance(most - 60_000);
      const answer = await me(server, { cookie });
      expect(answer.status).toBe(200);
      // The browser keeps it as long as the server does.
      expect(cookieOf(answer)).toBe(cookie);
    }
    await clock.advance(most);
    expect((await me(server, { cookie })).status).toBe(401);
    // Expired logins are removed with the next login.
    await logIn(server, key);
    expect(await server.runtime.keys.removeLogins({})).toBe(1);
  });

  it("is only sent over TLS where the page came over TLS", async () => {
    const server = await startTestServer({ auth: "keys" });
    const key = await server.key("ann");
    const headers = { "x-forwarded-proto": "https" };
    const login = await server.call("POST", "/login", { body: { key }, headers });
    for (const line of login.headers.getSetCookie()) expect(line).toMatch(/; Secure$/);
  });

  it("is not used when another page asks, not even one that may call", async () => {
    const server = await startTestServer({ auth: "keys", origins: ["https://app.example.org"] });
    const cookie = await logIn(server, await server.key("ann"));
    const origin = "https://app.example.org";
    expect((await me(server, { cookie, origin, "sec-fetch-site": "cross-site" })).status).toBe(401);
    expect((await me(server, { cookie, "sec-fetch-site": "same-site" })).status).toBe(403);
    const socket = await server.socket({ headers: { cookie, origin } });
    expect((await socket.closed).code).toBe(4401);
  });

  it("is written to a cookie and read from it", () => {
    expect(readLoginCookie("a=b; parley_login=pl_x; c=d")).toBe("pl_x");
    expect(readLoginCookie("xparley_login=pl_x")).toBeUndefined();
    expect(readLoginCookie("parley_login=")).toBeUndefined();
    expect(readLoginCookie(undefined)).toBeUndefined();
    const cookie = loginCookie("pl_x", { secure: true, maxAgeMs: 5_000 });
    expect(cookie).toBe("parley_login=pl_x; Path=/; Max-Age=5; HttpOnly; SameSite=Strict; Secure");
    for (const line of clearedCookies({ secure: false })) expect(line).toContain("Max-Age=0");
  });

  it("is not made where no key is asked for", async () => {
    const server = await startTestServer();
    const answer = await server.call("POST", "/login", { body: { key: "pk_any" } });
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []]);
  });
});
