import { createHash, scrypt } from "node:crypto";
import { ParleyError } from "@parley/core/errors";

/** A key that secrets are encrypted with. */
export interface SecretKey {
  /** Names the key in what it has encrypted. Reveals nothing about the key itself. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** Characters of the text that a key is derived from. */
const secretLength = { least: 16, most: 1_024 };

/** Slow on purpose: the text may be a passphrase. About a tenth of a second and 32 MB, once per process. */
const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 2 ** 20 };

/** The same on every node, which share the text and nothing else. */
const salt = "parley secrets 1";

/** Refuses a text that is too short to be secret, or so long that it is something else. `invalid_request` */
export function checkSecretText(text: string, setting: string): void {
  const { least, most } = secretLength;
  if (text.length >= least && text.length <= most) return;
  throw new ParleyError(
    "invalid_request",
    `${setting}: has ${text.length} characters; it needs ${least} to ${most}. Use the output of: openssl rand -base64 32`,
    { details: { field: setting } },
  );
}

/** Derives a key from a text. */
export async function deriveKey(text: string): Promise<SecretKey> {
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    scrypt(text, salt, 32, cost, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
  const id = createHash("sha256").update("parley key id").update(bytes).digest("hex").slice(0, 16);
  return { id, bytes };
}
