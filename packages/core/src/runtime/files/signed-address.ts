import type { FilePlace } from "./opened-file.js";

const algorithm = { name: "HMAC", hash: "SHA-256" } as const;
const secretBytes = 32;

/** The content of a signed address. */
export interface SignedPlace {
  readonly owner: string;
  readonly place: FilePlace;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/** Makes a secret for signatures. */
export function createFileSecret(): string {
  return toBase64(crypto.getRandomValues(new Uint8Array(secretBytes)));
}

/**
 * Returns a text that gives access to one file until a time: its owner, the file and the time are signed together.
 */
export async function signPlace(secret: string, signed: SignedPlace): Promise<string> {
  const { owner, place, expiresAt } = signed;
  const where = "uploadId" in place ? [place.uploadId] : [place.conversationId, place.seq];
  const payload = toBase64(new TextEncoder().encode(JSON.stringify([owner, expiresAt, ...where])));
  const signature = await crypto.subtle.sign("HMAC", await keyOf(secret, "sign"), signedBytes(payload));
  return `${payload}.${toBase64(new Uint8Array(signature))}`;
}

/**
 * Reads the file that a text claims to give access to. Undefined for any other text. Nothing of it is verified yet.
 */
export function readClaim(token: string): SignedPlace | undefined {
  const [payload = ""] = token.split(".");
  let claim: unknown;
  try {
    claim = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(fromBase64(payload)));
  } catch {
    return undefined;
  }
  if (!Array.isArray(claim)) return undefined;
  const [owner, expiresAt, id, seq] = claim as unknown[];
  if (typeof owner !== "string" || typeof expiresAt !== "number" || typeof id !== "string") return undefined;
  if (claim.length === 3) return { owner, expiresAt, place: { uploadId: id } };
  if (claim.length !== 4 || typeof seq !== "number" || !Number.isSafeInteger(seq)) return undefined;
  return { owner, expiresAt, place: { conversationId: id, seq } };
}

/** Returns true if the text was signed with this secret, compared in constant time. */
export async function isSigned(secret: string, token: string): Promise<boolean> {
  const [payload = "", signature = "", ...others] = token.split(".");
  if (others.length > 0) return false;
  try {
    const key = await keyOf(secret, "verify");
    return await crypto.subtle.verify("HMAC", key, fromBase64(signature), signedBytes(payload));
  } catch {
    return false;
  }
}

function keyOf(secret: string, use: "sign" | "verify"): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", fromBase64(secret), algorithm, false, [use]);
}

/** Prefixes the signed bytes with their purpose: no other signature with the same secret is valid for an address. */
function signedBytes(payload: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`parley file address 1\n${payload}`);
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) throw new TypeError("not base64url");
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) =>
    character.charCodeAt(0),
  );
}
