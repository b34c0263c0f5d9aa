// Required metadata of a published package: its origin, its description, its license, and its own manifest.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const about = "published packages say where they come from and bring licence and README";

const repository = "https://github.com/parley-dev/parley";

export async function run({ root, packages }) {
  const all = packages();
  const licence = readFileSync(join(root, "LICENSE"), "utf8");
  return {
    problems: all.flatMap(({ folder, manifest }) => [
      ...manifestProblems(folder, manifest).map((problem) => `${folder}/package.json: ${problem}`),
      ...fileProblems(join(root, folder), licence).map((problem) => `${folder}: ${problem}`),
    ]),
    note: `${all.length} packages`,
    advice: "Copy the shape of packages/wire: its package.json, LICENSE and README.md.",
  };
}

function manifestProblems(folder, manifest) {
  const expected = {
    homepage: `${repository}/tree/main/${folder}#readme`,
    bugs: `${repository}/issues`,
    repository: { type: "git", url: `git+${repository}.git`, directory: folder },
    publishConfig: { access: "public" },
  };
  const different = Object.entries(expected)
    .filter(([name, value]) => JSON.stringify(manifest[name]) !== JSON.stringify(value))
    .map(([name, value]) => `${name} is not ${JSON.stringify(value)}`);
  return [
    ...different,
    ...["description", "license"].filter((name) => !manifest[name]).map((name) => `${name} is missing`),
    ...((manifest.keywords ?? []).length > 0 ? [] : ["keywords are missing"]),
    ...(manifest.exports?.["./package.json"] === "./package.json"
      ? []
      : ["exports have no ./package.json, which tools ask for"]),
    ...boundTwice(manifest),
  ];
}

/**
 * Returns peers that are also dependencies: the user of a package chooses a peer, and a dependency would be a
 * second copy.
 */
function boundTwice({ dependencies = {}, devDependencies = {}, peerDependencies = {} }) {
  return Object.keys(peerDependencies).flatMap((name) => [
    ...(name in dependencies ? [`${name} is a dependency and a peer dependency`] : []),
    ...(name in devDependencies ? [] : [`${name} is a peer dependency without a version to test with`]),
  ]);
}

function fileProblems(folder, licence) {
  const path = join(folder, "LICENSE");
  return [
    ...(existsSync(path) && readFileSync(path, "utf8") === licence
      ? []
      : ["LICENSE is missing or another one"]),
    ...(existsSync(join(folder, "README.md")) ? [] : ["README.md is missing"]),
  ];
}
