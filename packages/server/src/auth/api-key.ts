import { createHash, randomBytes } from "node:crypto";
import type { ApiKeyRecord } from "@parley/core/ports";
import type { ApiKeyInfo, KeyScope } from "@parley/wire";

const secretPattern = /^pk_[A-Za-z0-9_-]{43}$/;
const prefixLength = 11;

/** What a key is looked up by: its secret is 256 random bits, so one round of SHA-256 is all it needs. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Whether a text can be a key at all: what cannot is not looked up. */
export function looksLikeSecret(text: string): boolean {
  return secretPattern.test(text);
}

/**
 * Makes a key: the secret, to be shown once, and what is kept of it. Add the record to `runtime.keys` for it to work.
 */
export function createKey(options: {
  /** Whose conversations it opens. */
  readonly owner: string;
  /** Default: `read` and `write`. */
  readonly scopes?: readonly KeyScope[];
  /** Epoch milliseconds. Default: now. */
  readonly createdAt?: number;
}): { readonly secret: string; readonly record: ApiKeyRecord } {
  const secret = `pk_${randomBytes(32).toString("base64url")}`;
  return {
    secret,
    record: {
      id: `key_${randomBytes(9).toString("hex")}`,
      owner: options.owner,
      hash: hashSecret(secret),
      prefix: secret.slice(0, prefixLength),
      scopes: [...new Set<KeyScope>(options.scopes ?? ["read", "write"])],
      createdAt: options.createdAt ?? Date.now(),
    },
  };
}

/** What may be told of a key. */
export function toKeyInfo({ hash: _, lastUsedAt, ...rest }: ApiKeyRecord): ApiKeyInfo {
  const minute = 60_000;
  return {
    ...rest,
    ...(lastUsedAt === undefined ? {} : { lastUsedAt: Math.floor(lastUsedAt / minute) * minute }),
  };
}
