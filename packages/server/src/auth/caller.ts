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
  /** The hash of its secret: what it is looked up by again while a connection lasts. */
  readonly keyHash?: string;
  /** The hash of the login's token, where they came with a cookie: it ends before its key may. */
  readonly loginHash?: string;
}

export const allScopes: readonly KeyScope[] = ["read", "write", "admin"];

/** What includes what: whoever may write may read, and an admin may do both. */
const rank: Readonly<Record<KeyScope, number>> = { read: 1, write: 2, admin: 3 };

/** Refuses a caller whose key does not reach as far. */
export function checkScope(caller: Caller, needed: KeyScope): void {
  if (caller.scopes.some((scope) => rank[scope] >= rank[needed])) return;
  throw new ParleyError(
    "forbidden",
    `This needs a key with the scope "${needed}"; this one has ${caller.scopes.join(", ") || "none"}`,
  );
}

/** What a caller's requests are counted under. */
export function rateKeyOf(caller: Caller): string {
  return caller.keyId === undefined ? `owner:${caller.owner}` : `key:${caller.keyId}`;
}
