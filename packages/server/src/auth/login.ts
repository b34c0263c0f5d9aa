import { randomBytes } from "node:crypto";
import type { LoginRecord } from "@parley/core/ports";
import { hashSecret } from "./api-key.js";

const tokenPattern = /^pl_[A-Za-z0-9_-]{43}$/;

/** Whether a text can be the token of a login: what cannot is not looked up. A key never can. */
export function looksLikeToken(text: string): boolean {
  return tokenPattern.test(text);
}

/** Makes a login of a key: the token, for a cookie, and what is kept of it. */
export function createLogin(options: {
  readonly keyId: string;
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** How long it holds after its last use. */
  readonly holdsMs: number;
}): { readonly token: string; readonly record: LoginRecord } {
  const { keyId, owner, now, holdsMs } = options;
  const token = `pl_${randomBytes(32).toString("base64url")}`;
  return {
    token,
    record: {
      id: `login_${randomBytes(9).toString("hex")}`,
      keyId,
      owner,
      hash: hashSecret(token),
      createdAt: now,
      lastUsedAt: now,
      expiresAt: now + holdsMs,
    },
  };
}
