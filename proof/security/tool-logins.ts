import type { ToolContext, ToolSource } from "@parley/core/turn";
import { openSecrets } from "@parley/store/secrets";
import { createMemoryLogStore } from "@parley/testing";
import { createMcpTools } from "@parley/tools/mcp";
import { OAuthToolServer } from "../../test/harness/oauth-tool-server.js";
import type { Area } from "./ledger.js";

const victim = "ann";
const thief = "bob";
const redirectUrl = "http://127.0.0.1:4141/oauth/callback";
const never = new AbortController().signal;

/** A source of tools at which owners log in, and its environment. */
interface ToolServers {
  readonly server: OAuthToolServer;
  /** A server of another party, which no token may reach. */
  readonly other: OAuthToolServer;
  readonly source: ToolSource;
  readonly logins: NonNullable<ToolSource["logins"]>;
}

async function withToolServers(
  play: (servers: ToolServers) => Promise<void>,
  weaken: (source: ToolSource) => ToolSource = (source) => source,
  followsRedirects = false,
): Promise<void> {
  const [server, other] = [new OAuthToolServer(), new OAuthToolServer()];
  const url = await server.start();
  await other.start();
  const { secrets } = createMemoryLogStore({ clock: Date });
  const source = weaken(
    createMcpTools({
      servers: { tracker: { url, auth: "oauth" } },
      secrets: openSecrets(secrets, { secret: "a text of the installation, long enough" }),
      ...(followsRedirects ? { fetch: fetchAlong } : {}),
    }),
  );
  const { logins } = source;
  try {
    if (logins !== undefined) await play({ server, other, source, logins });
  } finally {
    await source.close();
    server.stop();
    other.stop();
  }
}

/** A `fetch` that sends its headers along with every redirect. */
const fetchAlong: typeof fetch = async (input, init) => {
  const answer = await fetch(input, { ...init, redirect: "manual" });
  const location = answer.headers.get("location");
  return location === null ? answer : fetch(location, { ...init, redirect: "manual" });
};

function contextOf(owner: string): ToolContext {
  const ids = { conversationId: "c", turnId: "t", stepId: "t.0", toolCallId: "call" };
  return { ...ids, owner, signal: never, output: () => {} };
}

async function begin({ server, logins }: ToolServers, owner: string, user: string, browser?: string) {
  const begun = await logins.start(owner, "tracker", {
    redirectUrl,
    ...(browser === undefined ? {} : { browser }),
  });
  const { searchParams } = await server.logIn(begun.authorizationUrl, user);
  const param = (name: string) => searchParams.get(name) ?? undefined;
  return { state: param("state") ?? "", code: param("code"), iss: param("iss") };
}

async function connect(servers: ToolServers, owner: string): Promise<void> {
  await servers.logins.finish(await begin(servers, owner, owner), { owner });
}

/** Calls the tool that one owner is offered in a turn of another: returns the account that answers, or undefined. */
async function whoami({ source }: ToolServers, offeredTo: string, turnOf: string): Promise<unknown> {
  await source.ready?.(offeredTo, never);
  const tool = source.tools(offeredTo).find(({ name }) => name === "tracker__whoami");
  try {
    return ((await tool?.execute({} as never, contextOf(turnOf))) as { content?: unknown } | undefined)
      ?.content;
  } catch {
    return undefined;
  }
}

async function isRefused(action: Promise<unknown>): Promise<boolean> {
  return action.then(
    () => false,
    () => true,
  );
}

/**
 * Tries one owner's tokens in another's turn. With `weak`, every owner is offered the victim's tools, and treated as
 * the victim.
 */
export async function attackTokens(area: Area, weak: boolean): Promise<void> {
  const asVictim = (source: ToolSource): ToolSource => ({
    ...source,
    ready: (_, signal) => source.ready?.(victim, signal) ?? Promise.resolve(),
    tools: () =>
      source.tools(victim).map((tool) => ({
        ...tool,
        execute: (input, context) => tool.execute(input, { ...context, owner: victim }),
      })),
  });
  await withToolServers(
    async (servers) => {
      await connect(servers, victim);
      area.control("the victim uses its own login", (await whoami(servers, victim, victim)) === victim);
      const account = await whoami(servers, thief, thief);
      area.attempt("a turn of an owner without a login", account === undefined, String(account));
      const borrowed = await whoami(servers, victim, thief);
      area.attempt("the victim's tool in another owner's turn", borrowed === undefined, String(borrowed));
      const state = servers.source.servers(thief)[0]?.state;
      area.attempt("the state of the victim's login", state === "unconnected" || weak, state);
      await connect(servers, thief);
      const own = await whoami(servers, thief, thief);
      area.attempt("a turn of an owner with a login of its own", own === thief, String(own));
      servers.server.revoke(thief);
      const after = await whoami(servers, thief, thief);
      area.attempt("a turn of an owner whose login was taken back", after === undefined, String(after));
      area.control("the victim's login outlasts that", (await whoami(servers, victim, victim)) === victim);
    },
    weak ? asVictim : undefined,
  );
}

/**
 * Confused deputy: a login that one owner starts and another ends, with the account of the lured one. With `weak`, any
 * caller that returns with a state is accepted as the one that started the login.
 */
export async function attackLoginFlows(area: Area, weak: boolean): Promise<void> {
  const believing = (source: ToolSource): ToolSource => {
    const { logins } = source;
    const believe: NonNullable<ToolSource["logins"]> | undefined = logins && {
      start: (owner, server, options) => logins.start(owner, server, options),
      disconnect: (owner, server) => logins.disconnect(owner, server),
      finish: async (returned, by) =>
        logins.finish(returned, by).catch(() => logins.finish(returned, { owner: thief })),
    };
    return { ...source, ...(believe === undefined ? {} : { logins: believe }) };
  };
  await withToolServers(
    async (servers) => {
      const { logins, server } = servers;
      // The thief's address, opened by the victim: in its browser, and by its own program.
      for (const browser of [undefined, "the thief's browser"]) {
        for (const by of [{ browser: "the victim's browser" }, { browser: "" }, { owner: victim }]) {
          const lured = await begin(servers, thief, victim, browser);
          const what = `a login of the thief that ends with ${JSON.stringify(by)}`;
          area.attempt(what, await isRefused(logins.finish(lured, by)));
        }
      }
      const account = await whoami(servers, thief, thief);
      area.attempt("the victim's account in a turn of the thief", account === undefined, String(account));
      const stolen = await begin(servers, victim, victim, "the victim's browser");
      area.attempt(
        "the victim's login, by the thief's key",
        weak || (await isRefused(logins.finish(stolen, { owner: thief }))),
      );
      const own = await begin(servers, victim, victim, "the victim's browser");
      const worked = await logins.finish(own, { browser: "the victim's browser" }).then(
        () => true,
        () => false,
      );
      area.control("the victim's own login", worked);
      area.attempt("the same a second time", await isRefused(logins.finish(own, { owner: victim })));
      server.faults.issuer = "https://evil.example";
      const mixed = await begin(servers, victim, victim);
      area.attempt(
        "a login that comes back from another issuer",
        await isRefused(logins.finish(mixed, { owner: victim })),
      );
      delete server.faults.issuer;
      for (const address of ["javascript:alert(1)", "http://evil.example/a", "data:text/html,x"]) {
        server.faults.authorizationEndpoint = address;
        area.attempt(
          `people sent to ${address}`,
          await isRefused(logins.start(victim, "tracker", { redirectUrl })),
        );
      }
    },
    weak ? believing : undefined,
  );
}

/**
 * Tries to get headers that are sent along with a redirect. With `weak`, redirects are followed with everything that
 * was sent.
 */
export async function attackByRedirects(area: Area, weak: boolean): Promise<void> {
  await withToolServers(
    async (servers) => {
      const { server, other } = servers;
      const seen = () =>
        [...other.calls.map(({ token }) => token), ...other.grants].filter((one) => one !== undefined);
      await connect(servers, victim);
      area.control("a call without a redirect", (await whoami(servers, victim, victim)) === victim);
      server.faults.redirectTo = other.url;
      await whoami(servers, victim, victim);
      area.attempt("a call that is redirected", seen().length === 0, seen().join(", "));
      const before = seen().length;
      delete server.faults.redirectTo;
      server.expireTokens();
      server.faults.redirectTokensTo = `${other.issuer}/token`;
      await whoami(servers, victim, victim);
      area.attempt("a renewal that is redirected", seen().length === before, seen().join(", "));
    },
    undefined,
    weak,
  );
}
