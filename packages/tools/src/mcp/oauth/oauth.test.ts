import type { SecretStore, Secrets } from "@parley/core/ports";
import type { Tool, ToolContext, ToolSource } from "@parley/core/turn";
import { openSecrets } from "@parley/store/secrets";
import { createMemoryLogStore } from "@parley/testing";
import { afterEach, describe, expect, it } from "vitest";
import { OAuthToolServer } from "../../../../../test/harness/oauth-tool-server.js";
import type { McpLimits } from "../mcp-limits.js";
import { createMcpTools } from "../mcp-tools.js";
import type { HttpServer } from "../server-config.js";

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const redirectUrl = "http://127.0.0.1:4141/oauth/callback";
const loopback = "http://127.0.0.1:5555/callback";
const never = new AbortController().signal;

async function startServer(): Promise<OAuthToolServer> {
  const server = new OAuthToolServer();
  await server.start();
  ends.push(() => server.stop());
  return server;
}

function createStore(): SecretStore {
  return createMemoryLogStore({ clock: Date }).secrets;
}

/** Starts a node with its own connections, on a store that several may share. */
function startNode(
  store: SecretStore,
  url: string,
  options: { readonly config?: Partial<HttpServer>; readonly limits?: Partial<McpLimits> } = {},
) {
  const secrets: Secrets = openSecrets(store, { secret: "a text of the installation, long enough" });
  const source = createMcpTools({
    servers: { tracker: { url, auth: "oauth", ...options.config } },
    limits: { retryMs: 10, ...options.limits },
    secrets,
  });
  ends.push(() => source.close());
  const { logins } = source;
  if (logins === undefined) throw new Error("no server has logins");
  return { source, secrets, logins };
}

type Node = ReturnType<typeof startNode>;

function returned(address: URL) {
  const param = (name: string) => address.searchParams.get(name) ?? undefined;
  return { state: param("state") ?? "", code: param("code"), iss: param("iss"), error: param("error") };
}

/** Logs an owner in, as the account of the same name. */
async function connect(node: Node, server: OAuthToolServer, owner: string, user = owner): Promise<void> {
  const { authorizationUrl } = await node.logins.start(owner, "tracker", { redirectUrl: loopback });
  await node.logins.finish(returned(await server.logIn(authorizationUrl, user)), { owner });
}

function contextOf(owner: string): ToolContext {
  const ids = { conversationId: "c", turnId: "t", stepId: "t.0", toolCallId: "call" };
  return { ...ids, owner, signal: never, output: () => {} };
}

async function toolOf(source: ToolSource, owner: string): Promise<Tool<never> | undefined> {
  await source.ready?.(owner, never);
  return source.tools(owner).find(({ name }) => name === "tracker__whoami");
}

/** Calls the tool in a turn of an owner: returns the account that it is logged in with. */
async function whoami(source: ToolSource, owner: string, as = owner): Promise<unknown> {
  const tool = await toolOf(source, owner);
  if (tool === undefined) return undefined;
  return ((await tool.execute({} as never, contextOf(as))) as { content: unknown }).content;
}

const stateOf = (source: ToolSource, owner?: string) => source.servers(owner)[0]?.state;

describe("a server that owners log in at", () => {
  it("has tools for the owners that logged in, each with its own account", async () => {
    const server = await startServer();
    const node = startNode(createStore(), server.url);
    expect(await whoami(node.source, "ann")).toBeUndefined();
    expect(node.source.servers("ann")[0]).toMatchObject({ state: "unconnected", auth: "oauth", tools: 0 });
    await connect(node, server, "ann");
    expect(await whoami(node.source, "ann")).toBe("ann");
    expect(await whoami(node.source, "bob")).toBeUndefined();
    await connect(node, server, "bob");
    expect(await whoami(node.source, "bob")).toBe("bob");
    expect(await whoami(node.source, "ann")).toBe("ann");
    expect([stateOf(node.source, "ann"), stateOf(node.source, "eve"), stateOf(node.source)]).toEqual([
      "ready",
      "unconnected",
      "unconnected",
    ]);
    expect(node.source.tools("ann")).toBe(node.source.tools("ann"));
    expect(node.source.tools("ann")).not.toBe(node.source.tools("bob"));
  });

  it("keeps a login through a restart and on other nodes, and removes it everywhere", async () => {
    const server = await startServer();
    const store = createStore();
    const first = startNode(store, server.url);
    const other = startNode(store, server.url);
    expect(await whoami(other.source, "ann")).toBeUndefined();
    await connect(first, server, "ann");
    expect(await whoami(other.source, "ann")).toBe("ann");
    await first.source.close();
    const again = startNode(store, server.url);
    expect(await whoami(again.source, "ann")).toBe("ann");
    expect(await again.logins.disconnect("ann", "tracker")).toBe(true);
    expect(await again.logins.disconnect("ann", "tracker")).toBe(false);
    expect(await whoami(again.source, "ann")).toBeUndefined();
    expect(await whoami(other.source, "ann")).toBeUndefined();
    expect(stateOf(other.source, "ann")).toBe("unconnected");
  });

  it("renews an expired token once for 20 calls on two nodes, and uses each refresh token once", async () => {
    const server = await startServer();
    const store = createStore();
    const nodes = [startNode(store, server.url), startNode(store, server.url)];
    const [first] = nodes;
    if (first === undefined) throw new Error("there is no node");
    await connect(first, server, "ann");
    for (const { source } of nodes) expect(await whoami(source, "ann")).toBe("ann");
    for (let round = 1; round <= 2; round += 1) {
      server.expireTokens();
      const calls = Array.from({ length: 20 }, (_, index) =>
        whoami(nodes[index % 2]?.source ?? first.source, "ann"),
      );
      expect(new Set(await Promise.all(calls))).toEqual(new Set(["ann"]));
      expect(server.grants.filter((kind) => kind === "refresh_token")).toHaveLength(round);
    }
    expect(server.reused).toBe(0);
  });

  it("renews a token before it ends, after a restart too", async () => {
    const server = await startServer();
    const store = createStore();
    server.tokenSeconds = 10;
    await connect(startNode(store, server.url), server, "ann");
    server.tokenSeconds = 3_600;
    expect(await whoami(startNode(store, server.url).source, "ann")).toBe("ann");
    expect(server.grants).toEqual(["authorization_code", "refresh_token"]);
    expect(server.calls.every(({ user }) => user === "ann")).toBe(true);
  });

  it("needs connecting again if a login was revoked, without affecting other owners", async () => {
    const server = await startServer();
    const node = startNode(createStore(), server.url);
    await connect(node, server, "ann");
    await connect(node, server, "bob");
    const tool = await toolOf(node.source, "ann");
    expect(await whoami(node.source, "bob")).toBe("bob");
    server.revoke("ann");
    await expect(tool?.execute({} as never, contextOf("ann"))).rejects.toThrow("needs connecting");
    expect(await whoami(node.source, "ann")).toBeUndefined();
    expect(node.source.servers("ann")[0]).toMatchObject({
      state: "unconnected",
      problem: expect.stringContaining("ended"),
    });
    expect(await whoami(node.source, "bob")).toBe("bob");
    const asked = server.calls.length;
    expect(await whoami(node.source, "ann")).toBeUndefined();
    expect(server.calls).toHaveLength(asked);
    await connect(node, server, "ann");
    expect(await whoami(node.source, "ann")).toBe("ann");
  });

  it("keeps a login whose renewal failed temporarily, and reveals nothing of what was sent", async () => {
    const server = await startServer();
    const node = startNode(createStore(), server.url);
    await connect(node, server, "ann");
    const tool = await toolOf(node.source, "ann");
    server.expireTokens();
    server.faults.tokenStatus = 503;
    const failed = tool?.execute({} as never, contextOf("ann"));
    const message = await Promise.resolve(failed).then(String, (error: Error) => error.message);
    expect(message).toContain("could not be renewed");
    expect(server.secrets().filter((secret) => message.includes(secret))).toEqual([]);
    delete server.faults.tokenStatus;
    expect(await whoami(node.source, "ann")).toBe("ann");
  });

  it("does not use a login that was made for another address", async () => {
    const [server, other] = [await startServer(), await startServer()];
    const store = createStore();
    await connect(startNode(store, server.url), server, "ann");
    const moved = startNode(store, other.url);
    expect(await whoami(moved.source, "ann")).toBeUndefined();
    expect(stateOf(moved.source, "ann")).toBe("unconnected");
    expect(other.calls).toEqual([]);
  });

  it("registers what the configuration names, or itself", async () => {
    const server = await startServer();
    const node = startNode(createStore(), server.url, { config: { scopes: ["tools", "more"] } });
    const { authorizationUrl } = await node.logins.start("ann", "tracker", { redirectUrl });
    expect(new URL(authorizationUrl).searchParams.get("scope")).toBe("tools more");
    expect(server.registered).toMatchObject([{ redirect_uris: [redirectUrl], client_name: "Parley" }]);
    const named = startNode(createStore(), server.url, { config: { clientId: "known" } });
    const started = await named.logins.start("ann", "tracker", { redirectUrl });
    expect(new URL(started.authorizationUrl).searchParams.get("client_id")).toBe("known");
    expect(server.registered).toHaveLength(1);
  });

  it("keeps the client's secret for the authorization server that it is for", async () => {
    const [server, elsewhere] = [await startServer(), await startServer()];
    server.faults.authorizationServer = elsewhere.issuer;
    const client = { clientId: "known", clientSecret: "planted" };
    const node = startNode(createStore(), server.url, { config: client });
    await expect(node.logins.start("ann", "tracker", { redirectUrl })).rejects.toThrow(/issuer/);
    expect(elsewhere.grants).toEqual([]);
    const config = { ...client, issuer: elsewhere.issuer };
    const named = startNode(createStore(), server.url, { config });
    const { authorizationUrl } = await named.logins.start("ann", "tracker", { redirectUrl });
    expect(new URL(authorizationUrl).origin).toBe(elsewhere.issuer);
    delete server.faults.authorizationServer;
    expect((await node.logins.start("ann", "tracker", { redirectUrl })).authorizationUrl).toContain(
      server.issuer,
    );
  });
});

describe("a login", () => {
  it("is finished on any node, once, by the owner or the browser that started it", async () => {
    const server = await startServer();
    const store = createStore();
    const [one, two] = [startNode(store, server.url), startNode(store, server.url)];
    const started = await one.logins.start("ann", "tracker", { redirectUrl, browser: "ann's browser" });
    const back = returned(await server.logIn(started.authorizationUrl, "ann"));
    const refused = "unknown, has ended or was started elsewhere";
    await expect(two.logins.finish(back, { owner: "bob" })).rejects.toThrow(refused);
    await expect(two.logins.finish(back, { browser: "bob's browser" })).rejects.toThrow(refused);
    await expect(two.logins.finish(back, { browser: "" })).rejects.toThrow(refused);
    await expect(two.logins.finish({ ...back, state: "guessed" }, { owner: "ann" })).rejects.toThrow(refused);
    expect(await two.logins.finish(back, { browser: "ann's browser" })).toEqual({
      owner: "ann",
      server: "tracker",
    });
    await expect(one.logins.finish(back, { owner: "ann" })).rejects.toThrow(refused);
    expect(await whoami(one.source, "ann")).toBe("ann");
    expect(await whoami(one.source, "bob")).toBeUndefined();
  });

  it("that a program started cannot be finished by any browser", async () => {
    const server = await startServer();
    const node = startNode(createStore(), server.url);
    const { authorizationUrl } = await node.logins.start("eve", "tracker", { redirectUrl: loopback });
    // Eve has sent Ann her own address to log in at.
    const back = returned(await server.logIn(authorizationUrl, "ann"));
    for (const browser of ["", "ann's browser"]) {
      await expect(node.logins.finish(back, { browser })).rejects.toThrow("started elsewhere");
    }
    expect(await whoami(node.source, "eve")).toBeUndefined();
  });

  it("is refused if the browser returns from another issuer", async () => {
    const server = await startServer();
    const node = startNode(createStore(), server.url);
    server.faults.issuer = "https://evil.example";
    await expect(connect(node, server, "ann")).rejects.toThrow("The login at tracker failed");
    expect(server.grants).toEqual([]);
    expect(await whoami(node.source, "ann")).toBeUndefined();
  });

  it("that the user refuses, or with a wrong code, leaves nothing behind", async () => {
    const server = await startServer();
    const node = startNode(createStore(), server.url);
    const start = async () =>
      returned(
        await server.logIn(
          (await node.logins.start("ann", "tracker", { redirectUrl: loopback })).authorizationUrl,
          "ann",
        ),
      );
    const denied = { ...(await start()), code: undefined, error: "access_denied" };
    await expect(node.logins.finish(denied, { owner: "ann" })).rejects.toThrow("access_denied");
    const wrong = { ...(await start()), code: "guessed" };
    await expect(node.logins.finish(wrong, { owner: "ann" })).rejects.toThrow("invalid_grant");
    const loud = { ...(await start()), code: undefined, error: "<script>alert(1)</script>" };
    await expect(node.logins.finish(loud, { owner: "ann" })).rejects.toThrow("an unknown code");
    expect(await node.secrets.list({ owner: "ann", kind: "mcp-login" })).toEqual([]);
    expect(await node.secrets.list({ kind: "mcp-flow" })).toEqual([]);
  });

  it("sends users to https only, and no token anywhere else", async () => {
    const [server, other] = [await startServer(), await startServer()];
    const node = startNode(createStore(), server.url);
    for (const address of ["javascript:alert(1)//", "http://evil.example/authorize", "data:text/html,x"]) {
      server.faults.authorizationEndpoint = address;
      await expect(node.logins.start("ann", "tracker", { redirectUrl: loopback })).rejects.toThrow("failed");
    }
    delete server.faults.authorizationEndpoint;
    server.faults.redirectTokensTo = `${other.issuer}/token`;
    await expect(connect(node, server, "ann")).rejects.toThrow("failed");
    expect(other.grants).toEqual([]);
    delete server.faults.redirectTokensTo;
    await connect(node, server, "ann");
    const tool = await toolOf(node.source, "ann");
    server.faults.redirectTo = other.url;
    await expect(tool?.execute({} as never, contextOf("ann"))).rejects.toThrow();
    expect(other.calls).toEqual([]);
  });

  it("is useless to another owner, even with the tool object", async () => {
    const server = await startServer();
    const node = startNode(createStore(), server.url);
    await connect(node, server, "ann");
    await expect(whoami(node.source, "ann", "bob")).rejects.toThrow("belongs to another owner");
    expect(server.calls.filter(({ method, user }) => method === "POST" && user !== "ann")).toEqual([]);
  });

  it("is stored encrypted, without its tokens and its state", async () => {
    const server = await startServer();
    const root = createMemoryLogStore({ clock: Date });
    const node = startNode(root.secrets, server.url);
    const { authorizationUrl } = await node.logins.start("ann", "tracker", { redirectUrl: loopback });
    const state = new URL(authorizationUrl).searchParams.get("state") ?? "none";
    await connect(node, server, "ann");
    const stored = JSON.stringify(await root.secrets.page({ limit: 100 }));
    expect(stored).toContain("tracker");
    for (const secret of [state, ...server.secrets()]) expect(stored).not.toContain(secret);
  });
});
