import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { hasCluster } from "../private-postgres/create-cluster.js";
import { layoutOf } from "../private-postgres/layout.js";

/** Where the copy of a store is made: a store's folder of its own, with its own lock. */
export function movingFolder(folder: string): string {
  return join(folder, "moving");
}

/** The file that appears when the copy was compared with the original and found the same. */
export function movedMark(folder: string): string {
  return join(movingFolder(folder), "checked");
}

/**
 * Puts a copy that was checked in its place, as the process would have done that made it, if it was killed just then. Of
 * two processes that do so at once one finds it done.
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
