import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { usageError } from "../cli-error.js";
import type { Environment } from "./config.js";
import { userConfigFolder } from "./paths.js";

/** A configuration file, and the folder that relative paths in it start from. */
export interface FoundConfig {
  readonly path: string;
  readonly base: string;
}

const names = ["parley.config.mjs", "parley.config.json"];
const userNames = ["config.mjs", "config.json"];

/**
 * The configuration file: the one that is named, else the one in the working folder, else the user's own. Paths in a
 * project's file start from its folder; the user's file serves every project, so there they start from the working
 * folder.
 */
export function findConfig(
  named: string | undefined,
  env: Environment,
  workingFolder: string,
): FoundConfig | undefined {
  const explicit = named ?? (env.PARLEY_CONFIG === "" ? undefined : env.PARLEY_CONFIG);
  if (explicit !== undefined) {
    const path = resolve(workingFolder, explicit);
    if (!isFile(path)) {
      throw usageError(
        `The configuration file ${path} does not exist.`,
        named === undefined ? "It is named by PARLEY_CONFIG." : "It is named by --config.",
      );
    }
    if (!/\.(mjs|js|json)$/.test(path)) {
      throw usageError(`The configuration file ${path} is of no known kind.`, "Name it .mjs or .json.");
    }
    return { path, base: dirname(path) };
  }
  const local = only(workingFolder, names);
  if (local !== undefined) return { path: local, base: workingFolder };
  const user = only(userConfigFolder(env), userNames);
  return user === undefined ? undefined : { path: user, base: workingFolder };
}

/** The one that is there. Two would leave open which one holds. */
function only(folder: string, candidates: readonly string[]): string | undefined {
  const found = candidates.map((name) => join(folder, name)).filter(isFile);
  if (found.length > 1) {
    throw usageError(`There are two configuration files: ${found.join(" and ")}.`, "Keep one of them.");
  }
  return found[0];
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}
