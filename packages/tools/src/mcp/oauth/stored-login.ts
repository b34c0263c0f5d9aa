import { createHash } from "node:crypto";
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import type { SecretName } from "@parley/core/ports";

/** The kind of secret for an owner's login. */
export const loginKind = "mcp-login";

/** The kind of secret for a login in progress. */
export const flowKind = "mcp-flow";

/** The data that a login was made with. It is valid for one address alone. */
interface LoginBasis {
  /** The address of the server. */
  readonly url: string;
  /** Address that the browser returns to. */
  readonly redirectUrl: string;
  /** Parley's client at the authorization server. */
  readonly client: StoredOAuthClientInformation;
  readonly discovery: OAuthDiscoveryState;
}

/** A login of an owner at a server. */
export interface StoredLogin extends LoginBasis {
  /** Identifies the login: renewing tokens keeps it, a new login has another. */
  readonly id: string;
  /** Absent once the authorization server has refused them. */
  readonly tokens?: StoredOAuthTokens;
  /** Epoch milliseconds. Absent if the server did not send it. */
  readonly expiresAt?: number;
}

/** A login in progress. */
export interface StoredFlow extends LoginBasis {
  readonly owner: string;
  readonly server: string;
  readonly codeVerifier: string;
  /** The hash of the cookie of the browser that started it, if one did. */
  readonly browser?: string;
}

/** The public data of a login, without its secret. */
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

/**
 * Returns the name of a login in progress. The state itself is not stored: a reader of the store could finish
 * a login with it.
 */
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
