/** Types that a browser may show in place: it cannot run anything in them. */
const shownTypes =
  /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp)|audio\/[a-z0-9.+-]+|video\/[a-z0-9.+-]+|text\/plain|text\/markdown|text\/csv|application\/json)$/;

/** Types that a browser may run, or load further files for: they are never sent with their own type. */
const activeTypes = /html|xml|svg|script|css|wasm|multipart|message/;

/** Nothing in a file is loaded or run, and it cannot act as a page, even if a user opens it as one. */
const filePolicy = "default-src 'none'; sandbox; frame-ancestors 'none'";

/** Returns the headers of an answer that is a file. */
export function fileHeaders(file: {
  readonly name: string;
  readonly mediaType: string;
  readonly hash: string;
}) {
  const isShown = shownTypes.test(file.mediaType);
  return {
    "content-type": sentType(file.mediaType),
    "content-disposition": `${isShown ? "inline" : "attachment"}; ${fileNameParameters(file.name)}`,
    "content-security-policy": filePolicy,
    "accept-ranges": "bytes",
    etag: etagOf(file.hash),
    // A caller that may read it may keep it, but has to revalidate: the conversation may be gone.
    "cache-control": "private, no-cache, no-transform",
  };
}

/** Returns the validator of a file: its bytes never change. */
export function etagOf(hash: string): string {
  return `"${hash}"`;
}

function sentType(mediaType: string): string {
  if (activeTypes.test(mediaType)) return "application/octet-stream";
  return mediaType.startsWith("text/") ? `${mediaType}; charset=utf-8` : mediaType;
}

/** Returns the name in a form that every client reads, and in the one that keeps all of its characters (RFC 6266). */
function fileNameParameters(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(Buffer.from(name).toString()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `filename="${plain}"; filename*=UTF-8''${encoded}`;
}
