import { ParleyError } from "@parley/core";
import type { KeyScope } from "@parley/wire";

/** Who is asking, and what they may. */
export interface Caller {
  readonly owner: string;
  readonly scopes: readonly KeyScope[];
  /** `open`: no key was asked for. */
  readonly auth: "open" | "keys";
  /** The key they came with. */
  readonly keyId?: string;
  /** The beginning of its secret, by which people know it. */
  readonly keyPrefix?: string;
  /** The hash of its secret: what it is looked up by again while a connection lasts. */
  readonly keyHash?: string;
  /** The hash of the login's token, where they came with a cookie: it ends before its key may. */
  readonly loginHash?: string;
  /** The application around this app has identified them, by its own login. */
  readonly byHost?: true;
  /** A name for people, where the application gave one. */
  readonly label?: string;
}

/** A caller as an application identifies it. */
export interface HostCaller {
  /** Whose conversations are opened. */
  readonly owner: string;
  /** Default: `read`, `write` and `approve`. */
  readonly scopes?: readonly KeyScope[];
  /** A name for people, recorded with decisions. */
  readonly label?: string;
}

/** Identifies the caller of a request by an application's own login. Undefined: nobody, answered with 401. */
export type Authenticate = (request: Request) => HostCaller | undefined | Promise<HostCaller | undefined>;

/** Makes the caller that an application has identified. */
export function callerOfHost({ owner, scopes = ["read", "write", "approve"], label }: HostCaller): Caller {
  return { owner, scopes, auth: "open", byHost: true, ...(label === undefined ? {} : { label }) };
}

export const allScopes: readonly KeyScope[] = ["read", "write", "approve", "admin"];

/** What includes what: whoever may write may read, and an admin may do all. What people decide is apart from it. */
const included: Readonly<Record<KeyScope, readonly KeyScope[]>> = {
  read: ["read"],
  write: ["read", "write"],
  approve: ["approve"],
  admin: ["read", "write", "approve", "admin"],
};

/** True where a caller's key reaches as far. Of several scopes, one is enough. */
export function hasScope(caller: Caller, needed: KeyScope | readonly KeyScope[]): boolean {
  const enough = [needed].flat();
  return caller.scopes.some((scope) => enough.some((each) => included[scope].includes(each)));
}

/** Refuses a caller whose key does not reach as far. */
export function checkScope(caller: Caller, needed: KeyScope | readonly KeyScope[]): void {
  const enough = [needed].flat();
  if (hasScope(caller, enough)) return;
  const names = enough.map((scope) => `"${scope}"`).join(" or ");
  throw new ParleyError(
    "forbidden",
    `This needs a key with the scope ${names}; this one has ${caller.scopes.join(", ") || "none"}`,
  );
}

/** What a caller's requests are counted under. */
export function rateKeyOf(caller: Caller): string {
  return caller.keyId === undefined ? `owner:${caller.owner}` : `key:${caller.keyId}`;
}
