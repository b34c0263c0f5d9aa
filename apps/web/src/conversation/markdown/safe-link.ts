/** Returns the address of a link in untrusted text, if it may be followed: the web or mail, absolute, nothing else. */
export function safeHref(address: unknown): string | undefined {
  if (typeof address !== "string") return undefined;
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return undefined;
  }
  return url.protocol === "http:" || url.protocol === "https:" || url.protocol === "mailto:"
    ? url.href
    : undefined;
}
