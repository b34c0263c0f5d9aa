import { createHash, randomBytes } from "node:crypto";
import type { ApiKeyRecord } from "@parley/core/ports";
import type { ApiKeyInfo, KeyScope } from "@parley/wire";

const secretPattern = /^pk_[A-Za-z0-9_-]{43}$/;
const prefixLength = 11;

/** Returns the hash by which a key is looked up: its secret is 256 random bits, so one round of SHA-256 is enough. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Returns true if a text has the form of a key. Other texts are not looked up. */
export function looksLikeSecret(text: string): boolean {
  return secretPattern.test(text);
}

/** Creates a key: the secret, to be shown once, and its record. Add the record to `runtime.keys` for it to work. */
export function createKey(options: {
  /** Owner of the conversations it opens. */
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

/** Returns the public fields of a key. */
export function toKeyInfo({ hash: _, lastUsedAt, ...rest }: ApiKeyRecord): ApiKeyInfo {
  const minute = 60_000;
  return {
    ...rest,
    ...(lastUsedAt === undefined ? {} : { lastUsedAt: Math.floor(lastUsedAt / minute) * minute }),
  };
}
