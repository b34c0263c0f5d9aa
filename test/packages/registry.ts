import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
// @ts-expect-error a script without types
import { createContext } from "../../scripts/check/context.mjs";

/** A registry with only the packed packages. npm uses it for `@parley/*`, and its usual one for everything else. */
export interface PackageRegistry {
  readonly url: string;
  readonly manifests: readonly PackedManifest[];
  close(): void;
}

/** The fields of a package's manifest that tests use. */
export interface PackedManifest {
  readonly name: string;
  readonly version: string;
  readonly archive: string;
  readonly exports: Readonly<Record<string, unknown>>;
}

interface PackContext {
  readonly root: string;
  packages(): readonly { readonly folder: string; readonly manifest: Omit<PackedManifest, "archive"> }[];
  pack(folder: string): Promise<string>;
  close(): void;
}

/** Packs every published package as `npm publish` would, and serves the archives. */
export async function startRegistry(): Promise<PackageRegistry> {
  const context = createContext() as PackContext;
  const manifests: PackedManifest[] = [];
  for (const { folder, manifest } of context.packages()) {
    manifests.push({ ...manifest, archive: await context.pack(folder) });
  }
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://registry").pathname);
    const found = manifests.find(
      ({ name, archive }) => path === `/${name}` || path === `/${basename(archive)}`,
    );
    if (found === undefined) response.writeHead(404).end("{}");
    else if (path.endsWith(".tgz")) response.end(readFileSync(found.archive));
    else response.setHeader("content-type", "application/json").end(JSON.stringify(packument(found, url)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    manifests,
    close() {
      server.close();
      server.closeAllConnections();
      context.close();
    },
  };
}

/** Returns the document that npm requests from a registry about a package. */
function packument({ archive, ...manifest }: PackedManifest, url: string): object {
  const integrity = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  const dist = { tarball: `${url}/${basename(archive)}`, integrity };
  const { name, version } = manifest;
  return { name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } };
}

/** The root of the repository. */
export const root = join(import.meta.dirname, "..", "..");
