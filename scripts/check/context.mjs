// Shared state of several checks: the root, the packages, one build and one packing for all of them.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { npmCommand, npmEnvironment, root } from "../install.mjs";
import { projects } from "../setup.mjs";

/** Creates the context, once per run of the checks; `close` removes what was packed. */
export function createContext() {
  const folder = mkdtempSync(join(tmpdir(), "parley-check-"));
  const once = new Map();
  const memo = (key, work) => {
    if (!once.has(key)) once.set(key, work());
    return once.get(key);
  };
  return {
    root,
    runTool,
    /** The packages that are published, as `{ folder, manifest }`. */
    packages: publishedPackages,
    /** Compiles all packages, once: `{ code, output }`. */
    build: () => memo("build", () => runTool(["node_modules/typescript/bin/tsc", "-b", ...projects()])),
    /** Packs a package as `npm publish` would, once; resolves with the archive's path. */
    pack: (name) => memo(name, () => pack(name, folder)),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Returns the problems to report if the build failed, for checks of built packages. */
export async function buildProblems(context) {
  const { code } = await context.build();
  return code === 0
    ? []
    : ["the packages do not compile, so there is nothing to look at (see `--only types`)"];
}

function publishedPackages() {
  return projects()
    .map((folder) => ({
      folder,
      manifest: JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")),
    }))
    .filter(({ manifest }) => !manifest.private);
}

/** Runs a Node program in the root and captures its output: `{ code, output }`. */
function runTool(args) {
  return runProgram(process.execPath, args, { cwd: root });
}

async function pack(folder, into) {
  const own = mkdtempSync(join(into, "pack-"));
  const { file, args, shell } = npmCommand();
  const { code, output } = await runProgram(
    file,
    [...args, "pack", "--ignore-scripts", "--pack-destination", own],
    {
      cwd: join(root, folder),
      env: npmEnvironment(),
      shell,
    },
  );
  const { name, version } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  const archive = join(own, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
  if (code !== 0 || !existsSync(archive)) throw new Error(`npm pack failed in ${folder}:\n${output}`);
  return archive;
}

function runProgram(file, args, options) {
  return new Promise((resolve, reject) => {
    const env = { ...(options.env ?? process.env), NO_COLOR: "1", FORCE_COLOR: "0" };
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], ...options, env });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 1, output: output.trim() }));
  });
}
