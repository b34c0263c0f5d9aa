import {
  OAuthError,
  OAuthErrorCode,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { isParleyError, ParleyError } from "@parley/core/errors";
import type { HttpServer } from "../server-config.js";
import type { LoginProvider } from "./login-provider.js";
import { isLoopbackAddress } from "./oauth-fetch.js";
import { oauthLimits } from "./oauth-limits.js";
import { hashOf, type StoredFlow, type StoredLogin } from "./stored-login.js";

/**
 * Returns Parley's client at the authorization server, from the configuration. Undefined: it registers
 * itself.
 */
export function configuredClient({
  clientId,
  clientSecret,
}: HttpServer): StoredOAuthClientInformation | undefined {
  if (clientId === undefined) return undefined;
  return { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) };
}

/**
 * Refuses an authorization server that the client's secret is not for: the server of tools names it, and
 * could name its own to obtain the secret.
 */
export function checkIssuer(
  server: string,
  { url, issuer = url, clientSecret }: HttpServer,
  provider: LoginProvider,
): void {
  if (clientSecret === undefined) return;
  const named = provider.discoveryState()?.authorizationServerUrl;
  const { origin } = new URL(issuer);
  if (named !== undefined && new URL(named).origin === origin) return;
  throw refusedBy(
    server,
    `it names an authorization server that is not ${origin} (\`issuer\` in the configuration)`,
  );
}

/** Returns the data that a login was made with, once the official client has all of it. */
export function partsOf(
  { url }: HttpServer,
  provider: LoginProvider,
): Pick<StoredLogin, "url" | "client" | "discovery"> {
  const [client, discovery] = [provider.clientInformation(), provider.discoveryState()];
  if (client === undefined || discovery === undefined) throw new Error("The login has no client");
  return { url, client, discovery };
}

/** Returns tokens with their expiry. */
export function timed(tokens: StoredOAuthTokens): Pick<StoredLogin, "tokens" | "expiresAt"> {
  const seconds = tokens.expires_in;
  return { tokens, ...(seconds === undefined ? {} : { expiresAt: Date.now() + seconds * 1_000 }) };
}

/** Returns true if a token is about to expire. */
export function isNearEnd({ expiresAt }: StoredLogin): boolean {
  return expiresAt !== undefined && expiresAt - oauthLimits.earlyMs <= Date.now();
}

/** Returns true if the returning browser is the one that started the login. */
export function isBrowser(flow: StoredFlow | undefined, browser: string): boolean {
  return flow?.browser !== undefined && flow.browser === hashOf(browser);
}

/**
 * Refuses an address that a person should not be sent to: it comes from the server, and a browser would run
 * some of them.
 */
export function checkPersonAddress(server: string, address: URL): void {
  const isSafe =
    address.protocol === "https:" || (address.protocol === "http:" && isLoopbackAddress(address.hostname));
  if (!isSafe) throw refusedBy(server, "the address to log in at is not https");
}

/** Errors after which the same tokens are refused permanently. */
const finalCodes: readonly string[] = [
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
];

export function isFinal(error: unknown): boolean {
  return error instanceof OAuthError && finalCodes.includes(error.code);
}

export function unknownLogin(): ParleyError {
  return new ParleyError(
    "invalid_request",
    "This login is unknown, has ended or was started elsewhere: start it again",
  );
}

/** Creates the failure of a login, in our own words. */
export function refusedBy(server: string, why: string): ParleyError {
  return new ParleyError("provider_rejected", `The login at ${server} failed: ${why}`);
}

export function cannotRenew(server: string, error: unknown): Error {
  return new Error(`The login at ${server} could not be renewed now: ${problemOf(error)}`);
}

/** Describes a failure without the other side's message, which may contain what was sent to it. */
export function problemOf(error: unknown): string {
  if (error instanceof OAuthError) return plainCode(error.code);
  if (isParleyError(error)) return error.message;
  const name = error instanceof Error ? error.name : "Error";
  return name === "TimeoutError"
    ? "the authorization server did not answer in time"
    : `the authorization server could not be used (${plainCode(name)})`;
}

/** Returns a code of the protocol; anything else is not repeated. */
export function plainCode(code: string): string {
  return /^[A-Za-z0-9_-]{1,64}$/.test(code) ? code : "an unknown code";
}

/** Treats a login that cannot be decrypted as none: its owner logs in again. */
export function unlessUnreadable(error: unknown): null {
  if (isParleyError(error) && error.details?.reason === "secret_unreadable") return null;
  throw error;
}
