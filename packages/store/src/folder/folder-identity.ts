import { statSync } from "node:fs";

/**
 * Identifies a folder on this machine by device and inode, so that every path to it has one identity and a copy has
 * another. Moving the folder within its file system keeps it. Returns undefined if there is no such folder.
 */
export function folderIdentity(folder: string): string | undefined {
  const found = statSync(folder, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
}
