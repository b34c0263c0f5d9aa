import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { SecretName } from "@parley/core/ports";
import type { SecretKey } from "./secret-key.js";

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

/** The form of a sealed value: version, id of the key, and nonce, ciphertext and tag together. */
const form = /^1\.([0-9a-f]{16})\.([A-Za-z0-9_-]+)$/;

/** The result of opening a sealed value. `other-key`: none of the keys is the one that it was encrypted with. */
export type Opened =
  | { readonly value: string; readonly keyId: string }
  | { readonly problem: "other-key" | "changed" };

/** Encrypts a value for one name: under any other name, or another owner's, it cannot be decrypted. */
export function seal(key: SecretKey, name: SecretName, value: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key.bytes, nonce, { authTagLength: tagBytes });
  cipher.setAAD(bound(name));
  const encrypted = [cipher.update(value, "utf8"), cipher.final()];
  const bytes = Buffer.concat([nonce, ...encrypted, cipher.getAuthTag()]);
  return `1.${key.id}.${bytes.toString("base64url")}`;
}

/** Decrypts the output of `seal` for this name, with the key that encrypted it. */
export function open(keys: readonly SecretKey[], name: SecretName, sealed: string): Opened {
  const [, id = "", text = ""] = form.exec(sealed) ?? [];
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length < nonceBytes + tagBytes) return { problem: "changed" };
  const key = keys.find((each) => each.id === id);
  if (key === undefined) return { problem: "other-key" };
  const decipher = createDecipheriv(algorithm, key.bytes, bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(bound(name));
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  try {
    const value = [decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()];
    return { value: Buffer.concat(value).toString("utf8"), keyId: id };
  } catch {
    return { problem: "changed" };
  }
}

function bound({ owner, kind, name }: SecretName): Buffer {
  return Buffer.from(JSON.stringify(["parley secret", 1, owner ?? null, kind, name]));
}
