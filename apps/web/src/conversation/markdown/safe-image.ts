/** A picture in a text, by where it would come from. */
export type ImageSource =
  /** It is at hand: in the text itself, in this tab, or a file of this server. It loads at once. */
  | { readonly kind: "own"; readonly address: string }
  /** It lies with somebody else, who would learn that it is read. It loads when it is asked for. */
  | { readonly kind: "remote"; readonly address: string; readonly host: string };

/** Pictures in the text itself that are larger are not shown. */
const longestData = 6_000_000;
/** Formats that hold pixels only. A drawing (SVG) may hold scripts and addresses. */
const dataPicture = /^data:image\/(?:png|jpeg|gif|webp|avif|bmp);base64,[\w+/]+={0,2}$/;
const ownFile = /^\/(?:files\/[\w%.-]+|conversations\/[\w%.-]+\/files\/\d+)$/;

/** A file of this server, and not another address that is written like one. */
function isOwnFile(path: string, origin: string): boolean {
  return ownFile.test(path) && new URL(path, origin).pathname === path;
}

/** Tells where a picture would come from. Undefined when it is none to load. */
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
