import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

interface Grant {
  readonly user: string;
  readonly client: string;
  readonly challenge: string;
  readonly redirectUri: string;
}

/** Safeguards of a server that are off, or answers that are hostile. */
export interface ServerFaults {
  /** Names another issuer than its own in the address that the browser returns to. */
  issuer?: string;
  /** The authorization server that it names. */
  authorizationServer?: string;
  /** Target of redirects of requests to the tools. */
  redirectTo?: string;
  /** Target of redirects of requests for tokens. */
  redirectTokensTo?: string;
  /** The address at which people are sent to log in. */
  authorizationEndpoint?: string;
  /** Answers requests for tokens with this status. */
  tokenStatus?: number;
}

/**
 * A server of tools that people log in at, and the authorization server beside it: metadata, registration, codes with
 * PKCE, tokens that end, refresh tokens that can be used once. It records its requests.
 */
export class OAuthToolServer {
  readonly faults: ServerFaults = {};
  /** Requests to the tools, by the token that they came with. */
  readonly calls: {
    readonly method: string;
    readonly token: string | undefined;
    readonly user: string | undefined;
  }[] = [];
  readonly grants: string[] = [];
  readonly registered: { readonly redirect_uris: readonly string[] }[] = [];
  /** Seconds that a token lasts. */
  tokenSeconds = 3_600;
  readonly #codes = new Map<string, Grant>();
  readonly #tokens = new Map<string, { readonly user: string; readonly until: number }>();
  readonly #refreshTokens = new Map<string, { readonly user: string; readonly client: string }>();
  readonly #used = new Set<string>();
  readonly #clients = new Map<string, { readonly redirect_uris: readonly string[] }>();
  readonly #http: Server;
  /** Refresh tokens that were sent a second time: a client has lost the newer one. */
  reused = 0;

  constructor() {
    this.#http = createServer((request, response) => {
      this.#handle(request, response).catch(() => response.writeHead(500).end());
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#http.listen(0, "127.0.0.1", resolve));
    return this.url;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.issuer}/mcp`;
  }

  stop(): void {
    this.#http.closeAllConnections();
    this.#http.close();
  }

  /** Ends all issued tokens, but no refresh token: as when their time is over. */
  expireTokens(): void {
    this.#tokens.clear();
  }

  /** Revokes everything that a person has granted. */
  revoke(user: string): void {
    for (const [token, grant] of this.#tokens) if (grant.user === user) this.#tokens.delete(token);
    for (const [token, grant] of this.#refreshTokens)
      if (grant.user === user) this.#refreshTokens.delete(token);
  }

  /** Returns every text that is a secret of this server. */
  secrets(): string[] {
    return [...this.#tokens.keys(), ...this.#refreshTokens.keys(), ...this.#used];
  }

  /** Logs a person in, as a browser does. Returns the address that it is sent back to. */
  async logIn(authorizationUrl: string, user: string): Promise<URL> {
    const answer = await fetch(authorizationUrl, { headers: { "x-user": user }, redirect: "manual" });
    return new URL(answer.headers.get("location") ?? "");
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "", this.issuer);
    const json = (value: object, status = 200) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (pathname === "/.well-known/oauth-protected-resource/mcp")
      return void json({
        resource: this.url,
        authorization_servers: [this.faults.authorizationServer ?? this.issuer],
        scopes_supported: ["tools"],
      });
    if (pathname === "/.well-known/oauth-authorization-server") return void json(this.#metadata());
    if (pathname === "/register")
      return void json(this.#register(JSON.parse(await bodyOf(request)) as never), 201);
    if (pathname === "/authorize") return this.#authorize(searchParams, request, response);
    if (pathname === "/token") {
      if (this.faults.redirectTokensTo !== undefined)
        return void response.writeHead(307, { location: this.faults.redirectTokensTo }).end();
      const answer = this.#token(new URLSearchParams(await bodyOf(request)));
      return void json(answer, "error" in answer ? (this.faults.tokenStatus ?? 400) : 200);
    }
    if (pathname === "/mcp") return this.#tools(request, response);
    response.writeHead(404).end();
  }

  #metadata(): object {
    return {
      issuer: this.issuer,
      authorization_endpoint: this.faults.authorizationEndpoint ?? `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      registration_endpoint: `${this.issuer}/register`,
      response_types_supported: ["code"],
      grant_types_supported: ["authorization_code", "refresh_token"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none", "client_secret_post"],
      authorization_response_iss_parameter_supported: true,
    };
  }

  #register(metadata: { readonly redirect_uris: readonly string[] }): object {
    const client_id = randomUUID();
    this.registered.push(metadata);
    this.#clients.set(client_id, metadata);
    return { ...metadata, client_id };
  }

  #authorize(params: URLSearchParams, request: IncomingMessage, response: ServerResponse): void {
    const [client, redirectUri] = [params.get("client_id") ?? "", params.get("redirect_uri") ?? ""];
    const isKnown = this.#clients.get(client)?.redirect_uris.includes(redirectUri) === true;
    const challenge = params.get("code_challenge") ?? "";
    if (!isKnown || challenge === "" || params.get("resource") !== this.url) {
      response.writeHead(400).end("invalid request");
      return;
    }
    const code = randomUUID();
    this.#codes.set(code, {
      user: String(request.headers["x-user"] ?? "a person"),
      client,
      challenge,
      redirectUri,
    });
    const back = new URL(redirectUri);
    back.searchParams.set("code", code);
    back.searchParams.set("state", params.get("state") ?? "");
    back.searchParams.set("iss", this.faults.issuer ?? this.issuer);
    response.writeHead(302, { location: back.href }).end();
  }

  #token(params: URLSearchParams): object {
    const kind = params.get("grant_type") ?? "";
    this.grants.push(kind);
    if (this.faults.tokenStatus !== undefined)
      return { error: "server_error", error_description: params.toString() };
    const client = params.get("client_id") ?? "";
    if (kind === "authorization_code") {
      const code = params.get("code") ?? "";
      const grant = this.#codes.get(code);
      this.#codes.delete(code);
      const challenge = createHash("sha256")
        .update(params.get("code_verifier") ?? "")
        .digest("base64url");
      const isRight =
        grant?.client === client &&
        grant.challenge === challenge &&
        grant.redirectUri === params.get("redirect_uri") &&
        params.get("resource") === this.url;
      return isRight ? this.#issue(grant.user, client) : { error: "invalid_grant" };
    }
    const refreshToken = params.get("refresh_token") ?? "";
    if (this.#used.has(refreshToken)) this.reused += 1;
    const grant = this.#refreshTokens.get(refreshToken);
    if (kind !== "refresh_token" || grant?.client !== client) return { error: "invalid_grant" };
    this.#refreshTokens.delete(refreshToken);
    this.#used.add(refreshToken);
    return this.#issue(grant.user, client);
  }

  #issue(user: string, client: string): object {
    const [accessToken, refreshToken] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
    this.#tokens.set(accessToken, { user, until: Date.now() + this.tokenSeconds * 1_000 });
    this.#refreshTokens.set(refreshToken, { user, client });
    return {
      access_token: accessToken,
      token_type: "Bearer",
      expires_in: this.tokenSeconds,
      refresh_token: refreshToken,
      scope: "tools",
    };
  }

  async #tools(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    const grant = token === undefined ? undefined : this.#tokens.get(token);
    const user = grant !== undefined && grant.until > Date.now() ? grant.user : undefined;
    this.calls.push({ method: request.method ?? "", token, user });
    if (this.faults.redirectTo !== undefined) {
      response.writeHead(307, { location: this.faults.redirectTo }).end();
      return;
    }
    if (user === undefined) {
      const metadata = `${this.issuer}/.well-known/oauth-protected-resource/mcp`;
      response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${metadata}"` }).end();
      return;
    }
    const transport = new StreamableHTTPServerTransport({});
    const server = new McpServer({ name: "tracker", version: "1" });
    server.registerTool("whoami", { description: "Says who is logged in" }, async () => ({
      content: [{ type: "text", text: user }],
    }));
    await server.connect(transport as Parameters<McpServer["connect"]>[0]);
    await transport.handleRequest(request, response);
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += String(piece);
  return text;
}
