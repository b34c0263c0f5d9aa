import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, extname, join, resolve } from "node:path";
import { usageError } from "../cli-error.js";
import type { Environment } from "./config.js";
import { userConfigFolder } from "./paths.js";

/** A configuration file, and the folder that relative paths in it start from. */
export interface FoundConfig {
  readonly path: string;
  readonly base: string;
}

/** The name of a project's file and of the user's own, in front of the ending. */
const projectStem = "parley.config";
const userStem = "config";
const modules = [".mjs", ".js", ".mts", ".ts"];
const endings = [...modules, ".json"];

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
    return { path: loadable(path), base: dirname(path) };
  }
  const local = only(workingFolder, projectStem);
  if (local !== undefined) return { path: local, base: workingFolder };
  const user = only(userConfigFolder(env), userStem);
  return user === undefined ? undefined : { path: user, base: workingFolder };
}

/** The one that is there. Two would leave open which one holds; one that is not read must not look as if it were. */
function only(folder: string, stem: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  const found = readdirSync(folder)
    .filter((name) => name.startsWith(`${stem}.`) && /^[a-z]+$/.test(name.slice(stem.length + 1)))
    .map((name) => join(folder, name))
    .filter(isFile)
    .sort();
  if (found.length > 1) {
    throw usageError(`There are two configuration files: ${found.join(" and ")}.`, "Keep one of them.");
  }
  return found[0] === undefined ? undefined : loadable(found[0]);
}

/** Refuses a file that cannot be loaded, before it is taken for one that says nothing. */
function loadable(path: string): string {
  const ending = extname(path);
  if (!endings.includes(ending)) {
    throw usageError(
      `The configuration file ${path} is of no known kind.`,
      `Its name may end with ${endings.join(", ")}.`,
    );
  }
  if (/ts$/.test(ending) && !loadsTypeScript()) {
    throw usageError(
      `The configuration file ${path} is TypeScript, which Node ${process.versions.node} does not load.`,
      "Use Node 22.18 or newer, or name it .mjs: `parley init` writes one that an editor checks just the same.",
    );
  }
  return path;
}

/** Returns whether this Node removes types from what it loads. */
export function loadsTypeScript(): boolean {
  const { typescript } = process.features as { readonly typescript?: unknown };
  return Boolean(typescript);
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}
