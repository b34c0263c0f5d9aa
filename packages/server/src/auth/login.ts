import { randomBytes } from "node:crypto";
import type { LoginRecord } from "@parley/core/ports";
import { hashSecret } from "./api-key.js";

const tokenPattern = /^pl_[A-Za-z0-9_-]{43}$/;

/** Returns true if a text has the form of a login's token. Other texts are not looked up. A key never has it. */
export function looksLikeToken(text: string): boolean {
  return tokenPattern.test(text);
}

/** Creates a login of a key: the token, for a cookie, and its record. */
export function createLogin(options: {
  readonly keyId: string;
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Lifetime after its last use. */
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
