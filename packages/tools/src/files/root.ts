import { constants } from "node:fs";
import { type FileHandle, open, readdir, readlink, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { isParleyError, ParleyError } from "@parley/core/errors";

export interface FilesOptions {
  /** The folder that may be read. */
  readonly root: string;
  /** Maximum bytes read from one file; a note says that the rest is omitted. Default 200,000. */
  readonly maxBytes?: number;
  /** Maximum number of names listed for one folder. Default 500. */
  readonly maxEntries?: number;
}

/** A folder and the two operations allowed below it. */
export interface Root {
  list(path: string, signal: AbortSignal): Promise<string>;
  /** Returns undefined for a file that is not text. */
  read(path: string, signal: AbortSignal): Promise<string | undefined>;
}

export function openRoot(options: FilesOptions): Root {
  const { maxBytes = 200_000, maxEntries = 500 } = options;
  const root = resolve(options.root);

  /**
   * Returns the real location of a path, checked twice: as it is written, and after all links are followed.
   * The second check is the decisive one; the first gives the clearer message.
   */
  const locate = async (path: string): Promise<Place> => {
    if (path.includes("\0")) throw new ParleyError("tool_failed", "A path must not contain NUL characters");
    if (isAbsolute(path) || leaves(relative(root, resolve(root, path))))
      throw new ParleyError("tool_failed", outside(path));
    const realRoot = await realpath(root).catch(() => {
      throw new ParleyError("tool_failed", "The shared folder does not exist");
    });
    const real = await realpath(join(realRoot, path)).catch(() => {
      throw new ParleyError("tool_failed", `${path} does not exist`);
    });
    if (leaves(relative(realRoot, real))) throw new ParleyError("tool_failed", outside(path));
    return { real, realRoot };
  };

  /**
   * Opens the file at a path, and checks its real location: folders may have been replaced by links since the
   * first check.
   */
  const openInside = async (path: string): Promise<FileHandle> => {
    const { real, realRoot } = await locate(path);
    // Not blocking on a pipe, and not following a link that was created since the check.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = await open(real, flags).catch((error: unknown) => {
      throw new ParleyError("tool_failed", messageOf(path, error));
    });
    const at = await placeOf(file, real).catch(() => undefined);
    if (at !== undefined && !leaves(relative(realRoot, at))) return file;
    await file.close();
    throw new ParleyError("tool_failed", outside(path));
  };

  /**
   * Returns the names in a folder: of exactly the folder that was checked, if the system can read an open
   * folder.
   */
  const namesIn = async (path: string) => {
    if (process.platform !== "linux") return readdir((await locate(path)).real, { withFileTypes: true });
    const folder = await openInside(path);
    try {
      return await readdir(`/proc/self/fd/${folder.fd}/.`, { withFileTypes: true });
    } finally {
      await folder.close();
    }
  };

  return {
    async list(path, signal) {
      const entries = await namesIn(path).catch((error: unknown) => {
        if (isParleyError(error)) throw error;
        throw new ParleyError(
          "tool_failed",
          codeOf(error) === "ENOTDIR" ? `${path} is a file, not a folder` : messageOf(path, error),
        );
      });
      signal.throwIfAborted();
      const names = entries
        .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
        .sort((a, b) => (a < b ? -1 : 1));
      if (names.length === 0) return "The folder is empty.";
      if (names.length <= maxEntries) return names.join("\n");
      return `${names.slice(0, maxEntries).join("\n")}\n[${names.length - maxEntries} more are left out]`;
    },
    async read(path, signal) {
      const file = await openInside(path);
      try {
        const stat = await file.stat();
        if (stat.isDirectory()) throw new ParleyError("tool_failed", `${path} is a folder, not a file`);
        if (!stat.isFile()) throw new ParleyError("tool_failed", `${path} is not a regular file`);
        const buffer = Buffer.alloc(Math.min(stat.size, maxBytes));
        const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
        signal.throwIfAborted();
        const bytes = buffer.subarray(0, bytesRead);
        if (bytes.includes(0)) return undefined;
        const text = new TextDecoder().decode(bytes, { stream: stat.size > bytesRead });
        return stat.size > bytesRead ? `${text}\n[${stat.size - bytesRead} more bytes are left out]` : text;
      } finally {
        await file.close();
      }
    },
  };
}

interface Place {
  readonly real: string;
  readonly realRoot: string;
}

/**
 * Returns the location of an open file. Linux reports it directly; elsewhere the path is resolved again, and
 * must lead to this file.
 */
async function placeOf(file: FileHandle, real: string): Promise<string | undefined> {
  if (process.platform === "linux") return readlink(`/proc/self/fd/${file.fd}`);
  const again = await realpath(real);
  const [opened, found] = await Promise.all([file.stat(), stat(again)]);
  return opened.ino === found.ino && opened.dev === found.dev ? again : undefined;
}

function leaves(path: string): boolean {
  return path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path);
}

function outside(path: string): string {
  return `${path} is outside the shared folder`;
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}

/** Describes an error without the folder's location on this machine. */
function messageOf(path: string, error: unknown): string {
  const code = codeOf(error);
  if (code === "ENOENT") return `${path} does not exist`;
  if (code === "EACCES" || code === "EPERM") return `${path} may not be read`;
  if (code === "ELOOP") return outside(path);
  return `${path} cannot be read (${typeof code === "string" ? code : "unknown reason"})`;
}
