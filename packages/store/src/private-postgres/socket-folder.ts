import { createHash } from "node:crypto";
import { closeSync, constants, lstatSync, openSync, readlinkSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { ParleyError } from "@parley/core/errors";
import { ownFolder } from "./layout.js";

/** A socket's path holds 104 bytes on some systems, with `/.s.PGSQL.5432.lock` and a terminator. */
const longestFolder = 84;

/**
 * Returns the folder of the server's socket as the server names it: its data folder, by a short path. If the system has
 * no other name for it and its path is long, a link in /tmp leads to it.
 */
export function socketFolder(data: string, own: string | "none" = ownFolder): string {
  if (own !== "none") return own;
  return Buffer.byteLength(data) <= longestFolder ? data : shortLink(data);
}

/** The folder of a server's socket as this process names it. */
export interface SocketPath {
  readonly path: string;
  close(): void;
}

/** Opens the path to a server's socket. */
export function openSocketPath(data: string, own: string | "none" = ownFolder): SocketPath {
  if (own === "none") return { path: socketFolder(data, own), close() {} };
  const descriptor = openSync(data, constants.O_RDONLY | constants.O_DIRECTORY);
  let isOpen = true;
  return {
    path: `/proc/self/fd/${descriptor}`,
    close() {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
    },
  };
}

function shortLink(data: string): string {
  const link = join("/tmp", `parley-${createHash("sha256").update(data).digest("hex").slice(0, 16)}`);
  try {
    symlinkSync(data, link);
  } catch {
    const found = lstatSync(link);
    const isOurs = found.isSymbolicLink() && found.uid === process.getuid?.();
    if (!isOurs) throw foreign(link);
    if (readlinkSync(link) !== data) {
      unlinkSync(link);
      symlinkSync(data, link);
    }
  }
  return link;
}

/** Creates the refusal of a link that another user owns: it could lead this process to that user's server. */
function foreign(link: string): ParleyError {
  return new ParleyError(
    "store_unavailable",
    `${link} belongs to another user. Remove it, or use a store whose path is shorter.`,
    { retryable: false },
  );
}
