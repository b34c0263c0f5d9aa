import { createReadStream } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { extname, join, resolve, sep } from "node:path";
import { Readable } from "node:stream";
import type { Context } from "hono";
import type { AppEnv } from "./app-env.js";
import { pagePolicy } from "./security-headers.js";

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

interface PageFile {
  readonly path: string;
  readonly size: number;
  readonly modifiedMs: number;
}

/** Serves the files of a page, and its one document for all the addresses that the page itself knows. */
export function servePage(folder: string): (c: Context<AppEnv>) => Promise<Response | undefined> {
  const root = resolve(folder);
  return async (c) => {
    if (c.req.method !== "GET" && c.req.method !== "HEAD") return undefined;
    const { pathname } = new URL(c.req.url);
    const isDocument = pathname === "/" || pathname === "/c" || pathname.startsWith("/c/");
    const file = await findFile(root, isDocument ? "/index.html" : pathname);
    if (file === undefined) return undefined;
    c.set("route", "page");

    const etag = `"${file.size.toString(16)}-${Math.floor(file.modifiedMs).toString(16)}"`;
    const isAsset = pathname.startsWith("/assets/");
    // The names of assets change with what is in them; all else is asked for again each time.
    const headers: Record<string, string> = {
      etag,
      "cache-control": isAsset ? "public, max-age=31536000, immutable" : "no-cache",
      "content-security-policy": pagePolicy(c.req.header("host")),
    };
    if (c.req.header("if-none-match") === etag) return c.body(null, 304, headers);
    headers["content-type"] = types[extname(file.path).toLowerCase()] ?? "application/octet-stream";
    headers["content-length"] = String(file.size);
    if (c.req.method === "HEAD" || file.size === 0) return c.body(null, 200, headers);
    const body = Readable.toWeb(createReadStream(file.path)) as ReadableStream<Uint8Array>;
    return c.body(body, 200, headers);
  };
}

/** A file of the folder by its address. Nothing outside of it, not by dots and not by links, and nothing hidden. */
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

/** What stands at the root of a server without a page. */
export const plainRoot = `This is Parley, a conversation runtime for LLM agents.

The contract of its API is at /openapi.json, and its socket is at /ws. There is no page here:
start the server with one, or talk to it with \`parley chat\`.
`;
