import type { Face } from "./face.js";

/** The faces that a server mounts unless it is told which. */
export const allFaces: readonly Face[] = [];
