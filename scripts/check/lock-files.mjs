// `npm ci` must work on every machine: exact versions, no registry address, no missing platform.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projects } from "../setup.mjs";

export const about = "lock files name no registry, fit their manifests and cover every platform";

const kinds = ["dependencies", "devDependencies", "optionalDependencies"];
/** Dependencies that the user of a package may have too, and that must then be the same copy: a range. */
const shared = ["@opentelemetry/api", "hono", "zod"];

export async function run({ root }) {
  const folders = [".", "test", "bench", "site"].filter((folder) =>
    existsSync(join(root, folder, "package.json")),
  );
  return {
    problems: folders.flatMap((folder) => lockProblems(root, folder)),
    note: folders.map((folder) => join(folder, "package-lock.json")).join(", "),
    advice:
      "Run `npm install` in that folder with its .npmrc in place, and `npm ci` in a fresh clone afterwards.",
  };
}

function lockProblems(root, folder) {
  const path = join(folder, "package-lock.json");
  if (!existsSync(join(root, path))) return [`${path} is missing`];
  const { packages } = JSON.parse(readFileSync(join(root, path), "utf8"));
  const manifests = folder === "." ? ["", ...projects()] : [""];
  return [
    ...manifests.flatMap((at) => manifestProblems(root, folder, at, packages[at], path)),
    ...Object.entries(packages).flatMap(([name, entry]) => [
      ...(/^\w+(\+\w+)?:\/\//.test(entry.resolved ?? "")
        ? [`${path}: ${name} names an address (${entry.resolved})`]
        : []),
      ...forgottenPlatforms(packages, name, entry).map(
        (missing) => `${path}: ${missing} (optional, of ${name}) is not locked`,
      ),
    ]),
  ];
}

function manifestProblems(root, folder, at, locked, lockPath) {
  const manifestPath = join(folder, at, "package.json");
  const manifest = JSON.parse(readFileSync(join(root, manifestPath), "utf8"));
  return kinds.flatMap((kind) => {
    const wanted = manifest[kind] ?? {};
    const loose = Object.entries(wanted)
      .filter(
        ([name, version]) => !isExact(version) && !(kind === "dependencies" && isSharedRange(name, version)),
      )
      .map(([name, version]) => `${manifestPath}: ${name} is "${version}", not one exact version`);
    const held = locked?.[kind] ?? {};
    const different = [...new Set([...Object.keys(wanted), ...Object.keys(held)])]
      .filter((name) => wanted[name] !== held[name])
      .map(
        (name) =>
          `${lockPath}: ${name} is "${held[name] ?? "absent"}", but ${manifestPath} has "${wanted[name] ?? "none"}"`,
      );
    return [...loose, ...different];
  });
}

/** Returns true for a version, or for an alias of a package in one version. */
function isExact(version) {
  return /^(npm:(@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version);
}

function isSharedRange(name, version) {
  return shared.includes(name) && /^\^\d+\.\d+\.\d+$/.test(version);
}

/**
 * Returns the binaries missing from the lock: npm silently omits one that the registry lacks; `npm ci` then
 * fails on that platform.
 */
function forgottenPlatforms(packages, name, entry) {
  return Object.keys(entry.optionalDependencies ?? {}).filter((dependency) => {
    for (let at = name; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
      if (packages[at === "" ? `node_modules/${dependency}` : `${at}/node_modules/${dependency}`])
        return false;
      if (at === "") return true;
    }
  });
}
