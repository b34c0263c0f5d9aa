import { createHash } from "node:crypto";
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { SecretName } from "@parley/core/ports";

/** The kind of secret that a login of an owner is. */
export const loginKind = "mcp-login";

/** The kind of secret that a login is while it is under way. */
export const flowKind = "mcp-flow";

/** What a login was made with. It is of use for one address alone. */
interface LoginGround {
  /** The address of the server. */
  readonly url: string;
  /** Where the browser comes back to. */
  readonly redirectUrl: string;
  /** Parley, as the authorization server knows it. */
  readonly client: StoredOAuthClientInformation;
  readonly discovery: OAuthDiscoveryState;
}

/** A login of an owner at a server. */
export interface StoredLogin extends LoginGround {
  /** Identifies the login: renewed tokens are the same one, another login is another. */
  readonly id: string;
  /** Absent once the authorization server has refused them. */
  readonly tokens?: StoredOAuthTokens;
  /** Epoch milliseconds. Absent where the server did not say. */
  readonly expiresAt?: number;
}

/** A login that a person is making. */
export interface StoredFlow extends LoginGround {
  readonly owner: string;
  readonly server: string;
  readonly codeVerifier: string;
  /** The hash of what the browser holds that has begun it, where one has. */
  readonly browser?: string;
}

/** What may be known of a login without its secret. */
export interface LoginFacts {
  readonly url: string;
  readonly issuer: string;
  readonly state: "connected" | "expired";
  /** Identifies the login, also after its tokens were renewed. */
  readonly login: string;
}

export function loginName(owner: string, server: string): SecretName & { owner: string } {
  return { owner, kind: loginKind, name: server };
}

/** The state itself is not stored: whoever can read the store could finish a login with it. */
export function flowName(state: string): SecretName {
  return { kind: flowKind, name: hashOf(state) };
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export function factsOf({ id, url, tokens, discovery }: StoredLogin): LoginFacts & Record<string, unknown> {
  return {
    url,
    issuer: discovery.authorizationServerMetadata?.issuer ?? String(discovery.authorizationServerUrl),
    login: id,
    state: tokens === undefined ? "expired" : "connected",
  };
}
