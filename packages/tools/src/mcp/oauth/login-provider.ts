import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";

/** Data that a login starts or continues with. */
export interface LoginParts {
  readonly redirectUrl: string;
  readonly scopes?: readonly string[] | undefined;
  readonly state?: string;
  readonly client?: StoredOAuthClientInformation | undefined;
  readonly discovery?: OAuthDiscoveryState | undefined;
  readonly codeVerifier?: string;
}

/** Holds the data of one login while the official client performs it. Nothing of it outlives the call. */
export class LoginProvider implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadata: OAuthClientMetadata;
  readonly #state: string;
  #client: StoredOAuthClientInformation | undefined;
  #discovery: OAuthDiscoveryState | undefined;
  #codeVerifier: string;
  #tokens: StoredOAuthTokens | undefined;
  authorizationUrl: URL | undefined;

  constructor({ redirectUrl, scopes, state = "", client, discovery, codeVerifier = "" }: LoginParts) {
    this.redirectUrl = redirectUrl;
    this.#state = state;
    this.#client = client;
    this.#discovery = discovery;
    this.#codeVerifier = codeVerifier;
    this.clientMetadata = {
      client_name: "Parley",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: client?.client_secret === undefined ? "none" : "client_secret_post",
      ...(scopes === undefined || scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
    };
  }

  state(): string {
    return this.#state;
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client;
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens;
  }

  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url;
  }

  saveCodeVerifier(codeVerifier: string): void {
    this.#codeVerifier = codeVerifier;
  }

  codeVerifier(): string {
    return this.#codeVerifier;
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.#discovery = discovery;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }
}
