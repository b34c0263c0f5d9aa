import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { hasCluster } from "../private-postgres/create-cluster.js";
import { layoutOf } from "../private-postgres/layout.js";

/** Returns the folder of a store's copy: a separate store folder, with its own lock. */
export function movingFolder(folder: string): string {
  return join(folder, "moving");
}

/** Returns the file that appears when the copy was compared with the original and found equal. */
export function movedMark(folder: string): string {
  return join(movingFolder(folder), "checked");
}

/**
 * Moves a checked copy into its place, for a process that was killed just before it did so. Of two processes that do so
 * at once one finds it done.
 */
export function finishMove(folder: string): void {
  if (!existsSync(movedMark(folder))) return;
  if (!hasCluster(layoutOf(folder))) {
    try {
      renameSync(layoutOf(movingFolder(folder)).home, layoutOf(folder).home);
    } catch (error) {
      if (!hasCluster(layoutOf(folder))) throw error;
    }
  }
  if (!hasCluster(layoutOf(movingFolder(folder)))) {
    rmSync(movingFolder(folder), { recursive: true, force: true });
  }
}
