import { setTimeout as delay } from "node:timers/promises";
import type { McpLimits } from "./mcp-limits.js";
import { McpServer, type ServerInfo } from "./mcp-server.js";
import type { OAuthLogins } from "./oauth/oauth-logins.js";
import type { HttpServer } from "./server-config.js";

/** A server with the login of one owner. */
interface Connected {
  readonly server: McpServer;
  /** The version of the login that it was connected with. A renewed token keeps the login. */
  readonly login: string;
}

/** The servers of one owner. */
interface Owner {
  readonly servers: Map<string, Connected>;
  /** Servers at which the login has ended. */
  expired: ReadonlySet<string>;
  usedAt: number;
}

export interface OwnerServersOptions {
  readonly servers: Readonly<Record<string, HttpServer>>;
  readonly limits: McpLimits;
  readonly identity: (() => Promise<string>) | undefined;
  readonly fetch: typeof fetch | undefined;
  readonly logins: OAuthLogins;
}

/**
 * Connects each owner to the servers that it has logged in at, with its own tokens. A connection is opened
 * when a turn of the owner starts, and closed when the owner has been idle for a while.
 */
export class OwnerServers {
  readonly logins: OAuthLogins;
  readonly #options: OwnerServersOptions;
  readonly #owners = new Map<string, Owner>();
  readonly #loading = new Map<string, Promise<void>>();
  readonly #sweep: NodeJS.Timeout;

  constructor(options: OwnerServersOptions) {
    this.#options = options;
    this.logins = options.logins;
    this.#sweep = setInterval(() => this.#endIdle(), options.limits.idleMs / 2).unref();
  }

  /** Returns the servers that an owner is connected to, in the order of the configuration. */
  of(owner: string): readonly McpServer[] {
    const known = this.#owners.get(owner);
    if (known === undefined) return [];
    known.usedAt = Date.now();
    return Object.keys(this.#options.servers).flatMap((name) => known.servers.get(name)?.server ?? []);
  }

  /** Returns the state of all servers that owners log in at. Without an owner, none is logged in. */
  infos(owner: string | undefined): ServerInfo[] {
    const known = owner === undefined ? undefined : this.#owners.get(owner);
    return Object.keys(this.#options.servers).map((name) => {
      const info = known?.servers.get(name)?.server.info();
      const isOver = info?.state === "unconnected" || known?.expired.has(name) === true;
      if (info !== undefined && !isOver) return { ...info, auth: "oauth" };
      const problem = isOver ? "The login has ended: connect it again" : "It needs connecting";
      return { name, transport: "http", state: "unconnected", tools: 0, problem, auth: "oauth" };
    });
  }

  /**
   * Connects an owner to the servers that it has logged in at, on this or another node, and waits a moment
   * for them.
   */
  async ready(owner: string, signal: AbortSignal): Promise<void> {
    const { readyMs } = this.#options.limits;
    const end = new AbortController();
    const either = AbortSignal.any([signal, end.signal]);
    const late = delay(readyMs, undefined, { ref: false, signal: either }).catch(() => undefined);
    try {
      await Promise.race([this.#load(owner), late]);
      await Promise.race([Promise.all(this.of(owner).map((server) => server.tried())), late]);
    } finally {
      end.abort();
    }
  }

  /** Applies a login that has changed on this node: the next turn connects with it. */
  renew(owner: string, server: string): void {
    const known = this.#owners.get(owner);
    const connected = known?.servers.get(server);
    known?.servers.delete(server);
    void connected?.server.close();
    void this.#load(owner).catch(() => undefined);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    const all = [...this.#owners.values()].flatMap(({ servers }) => [...servers.values()]);
    this.#owners.clear();
    await Promise.all(all.map(({ server }) => server.close()));
  }

  #load(owner: string): Promise<void> {
    const before = this.#loading.get(owner) ?? Promise.resolve();
    const loading = before.catch(() => undefined).then(() => this.#connect(owner));
    this.#loading.set(owner, loading);
    const forget = () => {
      if (this.#loading.get(owner) === loading) this.#loading.delete(owner);
    };
    loading.then(forget, forget);
    return loading;
  }

  async #connect(owner: string): Promise<void> {
    const { servers, ...shared } = this.#options;
    const logins = await this.logins.of(owner);
    const known = this.#owners.get(owner) ?? { servers: new Map(), expired: new Set(), usedAt: 0 };
    known.usedAt = Date.now();
    known.expired = new Set([...logins].flatMap(([name, { state }]) => (state === "expired" ? [name] : [])));
    this.#owners.set(owner, known);
    for (const [name, config] of Object.entries(servers)) {
      const login = logins.get(name);
      const connected = known.servers.get(name);
      const id = login?.state === "connected" ? login.login : undefined;
      if (connected?.login === id && connected?.server.info().state !== "unconnected") continue;
      known.servers.delete(name);
      void connected?.server.close();
      if (id === undefined) continue;
      const tokens = this.logins.tokensOf(owner, name);
      known.servers.set(name, {
        login: id,
        server: new McpServer({ ...shared, name, config, owner, tokens }),
      });
    }
    this.#endSurplus();
  }

  #endIdle(): void {
    const before = Date.now() - this.#options.limits.idleMs;
    for (const [owner, { usedAt }] of this.#owners) if (usedAt < before) this.#end(owner);
  }

  /** Removes the owners that were idle longest if there are too many. */
  #endSurplus(): void {
    const surplus = this.#owners.size - this.#options.limits.owners;
    if (surplus <= 0) return;
    const oldest = [...this.#owners].sort(([, a], [, b]) => a.usedAt - b.usedAt).slice(0, surplus);
    for (const [owner] of oldest) this.#end(owner);
  }

  #end(owner: string): void {
    const ended = this.#owners.get(owner);
    this.#owners.delete(owner);
    for (const { server } of ended?.servers.values() ?? []) void server.close();
  }
}
