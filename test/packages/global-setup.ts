import type { TestProject } from "vitest/node";
import { type PackageRegistry, type PackedManifest, startRegistry } from "./registry.js";

declare module "vitest" {
  interface ProvidedContext {
    /** The address of the registry that has the packed packages. */
    registry: string;
    packed: readonly PackedManifest[];
  }
}

let registry: PackageRegistry | undefined;

/** Packs once for all suites. */
export async function setup(project: TestProject): Promise<void> {
  registry = await startRegistry();
  project.provide("registry", registry.url);
  project.provide("packed", registry.manifests);
}

export function teardown(): void {
  registry?.close();
}
