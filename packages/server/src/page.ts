import { createReadStream } from "node:fs";
import { readFile, realpath, stat } from "node:fs/promises";
import { extname, join, resolve, sep } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Context } from "hono";
import type { AppEnv } from "./app-env.js";
import { takesGzip } from "./http/compressed-json.js";
import { frameHeaders, pagePolicy } from "./http/security-headers.js";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".webp": "image/webp",
  ".ico": "image/x-icon",
  ".woff": "font/woff",
  ".woff2": "font/woff2",
  ".wasm": "application/wasm",
  ".txt": "text/plain; charset=utf-8",
};

/** Types that are compressed for browsers; pictures and fonts are compressed already. */
const compressible = /^(text|application\/(json|manifest|wasm)|image\/svg)/;
/** A smaller file fits into one packet either way. */
const leastCompressed = 1_000;

interface PageFile {
  readonly path: string;
  readonly size: number;
  readonly modifiedMs: number;
}

/** Answers with a file of the page, or with undefined if it has none. */
type PageHandler = (
  c: Context<AppEnv>,
  /** Set if no route answers the address: a user who opens it is shown the page's document, with 404. */
  options?: { readonly isNowhere?: boolean },
) => Promise<Response | undefined>;

/** Serves the files of a page, and its one document for all the addresses that the page itself handles. */
export function servePage(folder: string): PageHandler {
  const root = resolve(folder);
  const packed = packOnce();
  return async (c, { isNowhere = false } = {}) => {
    if (c.req.method !== "GET" && c.req.method !== "HEAD") return undefined;
    if (isNowhere && !c.req.header("accept")?.includes("text/html")) return undefined;
    const status = isNowhere ? 404 : 200;
    const { pathname } = new URL(c.req.url);
    const isDocument = isNowhere || /^\/(?:$|(?:c|settings)(?:\/|$))/.test(pathname);
    const file = await findFile(root, isDocument ? "/index.html" : pathname);
    if (file === undefined) return undefined;
    c.set("route", "page");

    const type = types[extname(file.path).toLowerCase()] ?? "application/octet-stream";
    const canPack = compressible.test(type) && file.size >= leastCompressed;
    const isPacked = canPack && takesGzip(c.req.header("accept-encoding"));
    const version = `${file.size.toString(16)}-${Math.floor(file.modifiedMs).toString(16)}`;
    const etag = `"${version}${isPacked ? "-gzip" : ""}"`;
    const isAsset = !isDocument && pathname.startsWith("/assets/");
    // The names of assets change with their content; everything else is revalidated each time.
    const headers: Record<string, string> = {
      etag,
      "cache-control": isAsset ? "public, max-age=31536000, immutable" : "no-cache",
      "content-security-policy": pagePolicy(c.req.header("host")),
      ...(isDocument ? undefined : frameHeaders(pathname)),
      ...(canPack ? { vary: "accept-encoding" } : {}),
    };
    if (!isNowhere && c.req.header("if-none-match") === etag) return c.body(null, 304, headers);
    headers["content-type"] = type;
    if (isPacked) {
      const bytes = await packed(file);
      headers["content-encoding"] = "gzip";
      headers["content-length"] = String(bytes.length);
      return c.req.method === "HEAD" ? c.body(null, status, headers) : c.body(bytes, status, headers);
    }
    headers["content-length"] = String(file.size);
    if (c.req.method === "HEAD" || file.size === 0) return c.body(null, status, headers);
    // No further than the announced length: a build may write to the file meanwhile.
    const read = createReadStream(file.path, { end: file.size - 1 });
    const body = Readable.toWeb(read) as ReadableStream<Uint8Array>;
    return c.body(body, status, headers);
  };
}

/** Compresses each file once, and again after it has changed. A page is small, so all of it is kept. */
function packOnce(): (file: PageFile) => Promise<Uint8Array<ArrayBuffer>> {
  const kept = new Map<
    string,
    { readonly version: string; readonly bytes: Promise<Uint8Array<ArrayBuffer>> }
  >();
  return (file) => {
    const version = `${file.size}-${file.modifiedMs}`;
    const known = kept.get(file.path);
    if (known?.version === version) return known.bytes;
    const bytes = readFile(file.path)
      .then((content) => promisify(gzip)(content, { level: 9 }))
      .then((content) => new Uint8Array(content));
    kept.set(file.path, { version, bytes });
    bytes.catch(() => kept.delete(file.path));
    return bytes;
  };
}

/**
 * Finds a file of the folder by its address. Nothing outside of it, neither by dots nor by links, and nothing hidden.
 */
async function findFile(root: string, pathname: string): Promise<PageFile | undefined> {
  let decoded: string;
  try {
    decoded = decodeURIComponent(pathname);
  } catch {
    return undefined;
  }
  if (/[\0\\]/.test(decoded) || decoded.split("/").some((name) => name.startsWith("."))) return undefined;
  try {
    const [base, path] = await Promise.all([realpath(root), realpath(join(root, decoded))]);
    if (!path.startsWith(base + sep)) return undefined;
    const found = await stat(path);
    return found.isFile() ? { path, size: found.size, modifiedMs: found.mtimeMs } : undefined;
  } catch {
    return undefined;
  }
}

/** Text at the root of a server without a page. */
export const plainRoot = `This is Parley, a conversation runtime for LLM agents.

The contract of its API is at /openapi.json, and its socket is at /ws. There is no page here:
start the server with one, or talk to it with \`parley chat\`.
`;
