/** Returns a new message id: random, so that no two clients ever choose the same. */
export function newMessageId(): string {
  // Not `randomUUID`: pages of a plain HTTP address on the local network have none.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
