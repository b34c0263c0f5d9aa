/** The refusal of an address that is not this server's. */
export const foreignAddress =
  "addresses on the web are not fetched: send the file as a data URL (data:image/png;base64,...), or upload it first";

/** Returns the address of the file of a message, relative to the server's. */
export function fileAddress(conversationId: string, seq: number): string {
  return `/conversations/${encodeURIComponent(conversationId)}/files/${seq}`;
}

/**
 * Reads the address of a file that a client sends: the bytes of a data URL, or an address as `fileAddress` makes it.
 * Undefined for any other: addresses on the web are not fetched, because the server sees more of the network than its
 * callers do.
 */
export function fileAddressOf(
  address: string,
): { readonly data: string; readonly mediaType?: string } | { readonly url: string } | undefined {
  const inline = /^data:([^;,]*)(?:;[^;,]*)*;base64,([A-Za-z0-9+/]+=*)$/.exec(address);
  if (inline !== null) {
    const [, mediaType = "", data = ""] = inline;
    return { data, ...(mediaType === "" ? {} : { mediaType }) };
  }
  return /^\/conversations\/[^/?#]+\/files\/\d+$/.test(address) ? { url: address } : undefined;
}
