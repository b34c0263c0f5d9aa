import { toBase64 } from "../../messages/text/base64.js";

const prefix = "whsec_";
const secretBytes = 32;

/** Makes a secret for signatures, in the form of Standard Webhooks. */
export function createWebhookSecret(): string {
  return prefix + toBase64(crypto.getRandomValues(new Uint8Array(secretBytes)));
}

/**
 * Returns the headers of a delivery as Standard Webhooks defines them: the signature is an HMAC-SHA256 over id, time and
 * body, so that none of them can be changed, and a recorded delivery is refused once it is old.
 */
export async function signWebhook(delivery: {
  readonly secret: string;
  readonly id: string;
  /** Epoch milliseconds, of the attempt. */
  readonly now: number;
  readonly body: string;
}): Promise<Record<string, string>> {
  const { secret, id, body } = delivery;
  const timestamp = String(Math.floor(delivery.now / 1_000));
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const bytes = fromBase64(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret);
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed));
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${toBase64(signature)}`,
  };
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
