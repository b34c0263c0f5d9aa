/** A picture in a text, by its origin. */
export type ImageSource =
  /** Local: in the text itself, in this tab, or a file of this server. It loads at once. */
  | { readonly kind: "own"; readonly address: string }
  /** On another host, which would learn that it is read. It loads on request. */
  | { readonly kind: "remote"; readonly address: string; readonly host: string };

/** Larger pictures in the text itself are not shown. */
const longestData = 6_000_000;
/** Formats that hold pixels only. A drawing (SVG) may hold scripts and addresses. */
const dataPicture = /^data:image\/(?:png|jpeg|gif|webp|avif|bmp);base64,[\w+/]+={0,2}$/;
const ownFile = /^\/(?:files\/[\w%.-]+|conversations\/[\w%.-]+\/files\/\d+)$/;

/** Returns true for a file of this server, and false for another address that is written like one. */
function isOwnFile(path: string, origin: string): boolean {
  return ownFile.test(path) && new URL(path, origin).pathname === path;
}

/** Returns the origin of a picture. Undefined if it must not be loaded. */
export function imageSource(address: string, origin: string): ImageSource | undefined {
  if (address.startsWith("data:")) {
    return address.length <= longestData && dataPicture.test(address) ? { kind: "own", address } : undefined;
  }
  if (isOwnFile(address, origin)) return { kind: "own", address };
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return undefined;
  }
  if (url.protocol === "blob:") return url.origin === origin ? { kind: "own", address: url.href } : undefined;
  if (url.origin === origin) {
    return isOwnFile(url.pathname, origin) && url.search === ""
      ? { kind: "own", address: url.pathname }
      : undefined;
  }
  if (url.protocol !== "https:" || url.username !== "" || url.password !== "") return undefined;
  return { kind: "remote", address: url.href, host: url.host };
}
