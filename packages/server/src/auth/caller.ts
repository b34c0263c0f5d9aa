import { ParleyError } from "@parley/core";
import type { KeyScope } from "@parley/wire";

/** Identity and scopes of a caller. */
export interface Caller {
  readonly owner: string;
  readonly scopes: readonly KeyScope[];
  /** `open`: no key was required. */
  readonly auth: "open" | "keys";
  /** The caller's key. */
  readonly keyId?: string;
  /** The beginning of its secret, by which people recognize it. */
  readonly keyPrefix?: string;
  /** The hash of its secret, by which it is looked up again while a connection lasts. */
  readonly keyHash?: string;
  /** The hash of the login's token, if the caller sent a cookie: it may end before its key. */
  readonly loginHash?: string;
  /** The application around this app has identified the caller, by its own login. */
  readonly byHost?: true;
  /** A name for people, if the application gave one. */
  readonly label?: string;
}

/** A caller as an application identifies it. */
export interface HostCaller {
  /** Owner whose conversations are opened. */
  readonly owner: string;
  /** Default: `read`, `write` and `approve`. */
  readonly scopes?: readonly KeyScope[];
  /** A name for people, recorded with decisions. */
  readonly label?: string;
}

/** Identifies the caller of a request by an application's own login. Undefined: not identified, answered with 401. */
export type Authenticate = (request: Request) => HostCaller | undefined | Promise<HostCaller | undefined>;

/** Returns the caller that an application has identified. */
export function callerOfHost({ owner, scopes = ["read", "write", "approve"], label }: HostCaller): Caller {
  return { owner, scopes, auth: "open", byHost: true, ...(label === undefined ? {} : { label }) };
}

export const allScopes: readonly KeyScope[] = ["read", "write", "approve", "admin"];

/**
 * Scopes that each scope includes: `write` includes `read`, and `admin` includes all. Decisions of people are
 * separate.
 */
const included: Readonly<Record<KeyScope, readonly KeyScope[]>> = {
  read: ["read"],
  write: ["read", "write"],
  approve: ["approve"],
  admin: ["read", "write", "approve", "admin"],
};

/** Returns true if the caller's key has the scope. Of several scopes, one is enough. */
export function hasScope(caller: Caller, needed: KeyScope | readonly KeyScope[]): boolean {
  const enough = [needed].flat();
  return caller.scopes.some((scope) => enough.some((each) => included[scope].includes(each)));
}

/** Refuses a caller whose key lacks the scope. */
export function checkScope(caller: Caller, needed: KeyScope | readonly KeyScope[]): void {
  const enough = [needed].flat();
  if (hasScope(caller, enough)) return;
  const names = enough.map((scope) => `"${scope}"`).join(" or ");
  throw new ParleyError(
    "forbidden",
    `This needs a key with the scope ${names}; this one has ${caller.scopes.join(", ") || "none"}`,
  );
}

/** Returns the key under which a caller's requests are counted. */
export function rateKeyOf(caller: Caller): string {
  return caller.keyId === undefined ? `owner:${caller.owner}` : `key:${caller.keyId}`;
}
