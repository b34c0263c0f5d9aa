/** A new message id: random, so that no two clients ever choose the same. */
export function newMessageId(): string {
  const { crypto } = globalThis;
  // Pages of a plain address on the local network have no `randomUUID`.
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
