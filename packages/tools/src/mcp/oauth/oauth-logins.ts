import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { auth, refreshAuthorization } from "@modelcontextprotocol/client";
import { ParleyError } from "@parley/core/errors";
import type { OpenedSecret, SecretRecord, Secrets } from "@parley/core/ports";
import type { BegunLogin, FinishLogin, LoginReturn, ToolLogins } from "@parley/core/turn";
import type { HttpServer } from "../server-config.js";
import type { OwnerTokens } from "./authorized-fetch.js";
import { NeedsLogin } from "./login-error.js";
import {
  cannotRenew,
  checkIssuer,
  checkPersonAddress,
  configuredClient,
  isBrowser,
  isFinal,
  isNearEnd,
  partsOf,
  plainCode,
  problemOf,
  refusedBy,
  timed,
  unknownLogin,
  unlessUnreadable,
} from "./login-parts.js";
import { LoginProvider } from "./login-provider.js";
import { oauthFetch } from "./oauth-fetch.js";
import { oauthLimits } from "./oauth-limits.js";
import {
  factsOf,
  flowKind,
  flowName,
  hashOf,
  type LoginFacts,
  loginKind,
  loginName,
  type StoredFlow,
  type StoredLogin,
} from "./stored-login.js";

export interface OAuthLoginsOptions {
  /** The servers that owners log in at, by name. */
  readonly servers: Readonly<Record<string, HttpServer>>;
  readonly secrets: Secrets;
  readonly fetch?: typeof fetch | undefined;
  /** Called when an owner has logged in or out on this node. Refused tokens are detected without it. */
  onChange(owner: string, server: string): void;
}

/**
 * Logs owners in at servers of tools, and stores their tokens. A login belongs to its owner: the same owner
 * starts and finishes it, its tokens are read for that owner alone, and they are sent only to the address
 * that it was made for. Tokens are renewed by one process at a time, and stored before they are used.
 */
export class OAuthLogins implements ToolLogins {
  readonly #options: OAuthLoginsOptions;

  constructor(options: OAuthLoginsOptions) {
    this.#options = options;
  }

  /** Returns the logins of an owner, by server. */
  async of(owner: string): Promise<ReadonlyMap<string, LoginFacts>> {
    const records = await this.#options.secrets.list({ owner, kind: loginKind });
    const known = records.filter(({ name, facts }) => this.#options.servers[name]?.url === facts.url);
    return new Map(known.map(({ name, facts }) => [name, facts as unknown as LoginFacts]));
  }

  async start(
    owner: string,
    server: string,
    { redirectUrl, browser }: { readonly redirectUrl: string; readonly browser?: string },
  ): Promise<BegunLogin> {
    const config = this.#config(server);
    const { secrets } = this.#options;
    const problem = await secrets.problem();
    if (problem !== undefined) throw new ParleyError("store_unavailable", problem, { retryable: false });
    await this.#removeOldFlows(owner);
    const state = randomBytes(32).toString("base64url");
    const known = await this.#read(owner, server);
    const provider = new LoginProvider({
      redirectUrl,
      scopes: config.scopes,
      state,
      client:
        configuredClient(config) ??
        (known?.login.redirectUrl === redirectUrl ? known.login.client : undefined),
    });
    const fetchFn = this.#fetch(config.url);
    const scope = config.scopes?.join(" ");
    await this.#ask(server, () =>
      auth(provider, { serverUrl: config.url, fetchFn, ...(scope === undefined ? {} : { scope }) }),
    );
    checkIssuer(server, config, provider);
    const { authorizationUrl } = provider;
    if (authorizationUrl === undefined) throw refusedBy(server, "it returned no address to log in at");
    checkPersonAddress(server, authorizationUrl);
    const flow: StoredFlow = {
      owner,
      server,
      redirectUrl,
      ...partsOf(config, provider),
      codeVerifier: provider.codeVerifier(),
      ...(browser === undefined ? {} : { browser: hashOf(browser) }),
    };
    const expiresAt = Date.now() + oauthLimits.flowMs;
    const facts = { expiresAt, owner: hashOf(owner) };
    await secrets.put({ ...flowName(state), value: JSON.stringify(flow), facts, replaces: null });
    return { authorizationUrl: authorizationUrl.href, expiresAt };
  }

  async finish(
    { state, code, iss, error }: LoginReturn,
    by: FinishLogin,
  ): Promise<{ owner: string; server: string }> {
    const { secrets } = this.#options;
    const name = flowName(state);
    const found = await secrets.get(name);
    const flow = found === null ? undefined : (JSON.parse(found.value) as StoredFlow);
    const isOwn = "owner" in by ? flow?.owner === by.owner : isBrowser(flow, by.browser);
    const isInTime = Number(found?.facts.expiresAt ?? 0) > Date.now();
    // One error for all of these: a caller must not learn that another owner's login is in progress.
    if (found === null || flow === undefined || !isOwn || !isInTime) throw unknownLogin();
    const { owner, server } = flow;
    const config = this.#options.servers[server];
    // The caller that removes it owns it: of two that return with the same state, one succeeds.
    if (!(await secrets.remove(name, found.version)) || config?.url !== flow.url) throw unknownLogin();
    if (error !== undefined || code === undefined) {
      throw refusedBy(server, `it answered ${plainCode(error ?? "nothing")}`);
    }
    const { redirectUrl, client, discovery, codeVerifier } = flow;
    const provider = new LoginProvider({
      redirectUrl,
      client,
      discovery,
      codeVerifier,
      scopes: config.scopes,
    });
    await this.#ask(server, () =>
      auth(provider, {
        serverUrl: config.url,
        authorizationCode: code,
        fetchFn: this.#fetch(config.url),
        ...(iss === undefined ? {} : { iss }),
      }),
    );
    const tokens = provider.tokens();
    if (tokens === undefined) throw refusedBy(server, "it returned no token");
    const login: StoredLogin = {
      id: randomUUID(),
      redirectUrl,
      ...partsOf(config, provider),
      ...timed(tokens),
    };
    for (let version: string | null = null; version === null; ) {
      const known = await secrets.get(loginName(owner, server)).catch(unlessUnreadable);
      version = await this.#put(owner, server, login, known?.version ?? null);
    }
    this.#options.onChange(owner, server);
    return { owner, server };
  }

  async disconnect(owner: string, server: string): Promise<boolean> {
    this.#config(server);
    const removed = await this.#options.secrets.remove(loginName(owner, server));
    this.#options.onChange(owner, server);
    return removed;
  }

  /**
   * Returns the tokens of an owner at a server, read again for every request: another node may have renewed
   * or removed them.
   */
  tokensOf(owner: string, server: string): OwnerTokens {
    return {
      server,
      token: async (refused) => {
        const { login } = (await this.#read(owner, server)) ?? {};
        const token = login?.tokens?.access_token;
        if (login === undefined || token === undefined) throw new NeedsLogin(server);
        if (token !== refused && !isNearEnd(login)) return token;
        return this.#renew(owner, server, token);
      },
      expire: (token) => this.#expire(owner, server, token),
    };
  }

  /** Renews a token, unless another process has done so before this call gets the lock. */
  #renew(owner: string, server: string, before: string): Promise<string> {
    const name = loginName(owner, server);
    return this.#options.secrets.exclusively(name, async (signal) => {
      const found = await this.#read(owner, server);
      const tokens = found?.login.tokens;
      if (found === undefined || tokens === undefined) throw new NeedsLogin(server);
      if (tokens.access_token !== before) return tokens.access_token;
      const { login, secret } = found;
      const { refresh_token: refreshToken } = tokens;
      if (refreshToken === undefined) {
        // Without a refresh token there is only the access token itself, for as long as the server accepts
        // it.
        if (login.expiresAt !== undefined && login.expiresAt > Date.now()) return tokens.access_token;
        await this.#markExpired(owner, server, found);
        throw new NeedsLogin(server);
      }
      const { authorizationServerUrl, authorizationServerMetadata, resourceMetadata } = login.discovery;
      try {
        const renewed = await refreshAuthorization(authorizationServerUrl, {
          metadata: authorizationServerMetadata,
          clientInformation: login.client,
          refreshToken,
          resource: resourceMetadata?.resource ?? undefined,
          fetchFn: this.#fetch(login.url, signal),
        } as Parameters<typeof refreshAuthorization>[1]);
        const next = { ...login, ...timed({ ...tokens, ...renewed, issuer: tokens.issuer }) };
        // Another login was stored in between: its tokens are valid.
        if ((await this.#insist(() => this.#put(owner, server, next, secret.version))) === null) {
          const newest = (await this.#read(owner, server))?.login.tokens;
          if (newest === undefined) throw new NeedsLogin(server);
          return newest.access_token;
        }
        return renewed.access_token;
      } catch (error) {
        if (!isFinal(error)) throw error instanceof NeedsLogin ? error : cannotRenew(server, error);
        await this.#markExpired(owner, server, found);
        throw new NeedsLogin(server);
      }
    });
  }

  async #expire(owner: string, server: string, token: string): Promise<void> {
    const found = await this.#read(owner, server);
    if (found?.login.tokens?.access_token === token) await this.#markExpired(owner, server, found);
  }

  async #markExpired(owner: string, server: string, { login, secret }: FoundLogin): Promise<void> {
    const { tokens: _, expiresAt: __, ...rest } = login;
    await this.#put(owner, server, rest, secret.version);
  }

  /** Returns the login of an owner, if it was made for the server's current address. */
  async #read(owner: string, server: string): Promise<FoundLogin | undefined> {
    const secret = await this.#options.secrets.get(loginName(owner, server)).catch(unlessUnreadable);
    if (secret === null) return undefined;
    const login = JSON.parse(secret.value) as StoredLogin;
    return login.url === this.#config(server).url ? { login, secret } : undefined;
  }

  #put(owner: string, server: string, login: StoredLogin, replaces: string | null): Promise<string | null> {
    const value = JSON.stringify(login);
    return this.#options.secrets.put({ ...loginName(owner, server), value, facts: factsOf(login), replaces });
  }

  /** Stores what the authorization server has already changed: without it the login would be lost. */
  async #insist<Result>(store: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await store();
      } catch (error) {
        if (attempt === oauthLimits.attempts) throw error;
        await delay(oauthLimits.attemptMs * attempt);
      }
    }
  }

  async #removeOldFlows(owner: string): Promise<void> {
    const { secrets } = this.#options;
    const flows = await secrets.list({ kind: flowKind });
    const own = flows.filter(({ facts }) => facts.owner === hashOf(owner)).sort(byAge);
    const surplus = own.slice(0, Math.max(0, own.length - oauthLimits.flowsPerOwner + 1));
    const expired = flows.filter(({ facts }) => Number(facts.expiresAt) <= Date.now());
    for (const { kind, name } of new Set([...surplus, ...expired])) await secrets.remove({ kind, name });
  }

  #config(server: string): HttpServer {
    const config = this.#options.servers[server];
    if (config !== undefined) return config;
    throw new ParleyError("invalid_request", `server: there is no server "${server}" with a login`);
  }

  #fetch(url: string, ended?: AbortSignal): typeof fetch {
    return oauthFetch(url, { inner: this.#options.fetch, ended });
  }

  /**
   * Sends a request to the authorization server. Its messages stay out of the failure: they may contain what
   * was sent to it.
   */
  async #ask(server: string, request: () => Promise<unknown>): Promise<void> {
    try {
      await request();
    } catch (error) {
      throw refusedBy(server, problemOf(error));
    }
  }
}

function byAge(a: SecretRecord, b: SecretRecord): number {
  return a.createdAt - b.createdAt;
}

interface FoundLogin {
  readonly login: StoredLogin;
  readonly secret: OpenedSecret;
}
