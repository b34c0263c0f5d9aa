// Every entry that a page may load bundles for a browser, with nothing left to resolve.
import { existsSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { buildProblems } from "./context.mjs";

export const about = "core, client and http bundle for a browser";

/** Subpaths that run on Node alone, or that contain no code. */
const notForPages = ["./node", "./package.json"];

export async function run(context) {
  const problems = await buildProblems(context);
  if (problems.length > 0) return { problems };
  const portable = ["packages/core", "packages/client", "packages/http"];
  const here = portable.filter((folder) => existsSync(join(context.root, folder, "package.json")));
  const results = await Promise.all(here.map((folder) => bundle(context, folder)));
  const sizes = results.map(({ folder, kilobytes }) => `${folder.split("/")[1]} ${kilobytes} KB`);
  const missing = portable
    .filter((folder) => !here.includes(folder))
    .map((folder) => `${folder} does not exist yet`);
  return {
    problems: results.flatMap((result) => result.problems),
    note: [`gzip: ${sizes.join(", ")}`, ...missing].join("; "),
    advice: "A page cannot load Node's modules: put that code behind a subpath of its own, or behind a port.",
  };
}

async function bundle({ root, packages }, folder) {
  const { manifest } = packages().find((one) => one.folder === folder);
  const entries = Object.keys(manifest.exports).filter((path) => !notForPages.includes(path));
  const left = new Set();
  const warnings = [];
  const build = await rolldown({
    cwd: root,
    platform: "browser",
    input: Object.fromEntries(
      entries.map((path) => [path.slice(2) || "index", join(root, folder, manifest.exports[path].default)]),
    ),
    onLog: (level, log) => level === "warn" && warnings.push(`${folder}: ${log.message}`),
    plugins: [
      {
        name: "what-is-left",
        // Rolldown would leave imports of Node's modules unchanged.
        resolveId(source, importer) {
          if (isBuiltin(source))
            left.add(`${folder}: ${importer?.replace(`${root}/`, "")} imports ${source}`);
          return null;
        },
      },
    ],
  });
  try {
    const { output } = await build.generate({ format: "esm", minify: true });
    const chunks = output.filter(({ type }) => type === "chunk");
    const own = new Set(chunks.map(({ fileName }) => fileName));
    for (const { imports, dynamicImports } of chunks) {
      for (const name of [...imports, ...dynamicImports]) {
        if (!own.has(name) && !isBuiltin(name)) left.add(`${folder}: ${name} cannot be resolved`);
      }
    }
    const bytes = gzipSync(chunks.map(({ code }) => code).join("\n")).length;
    return { folder, kilobytes: (bytes / 1024).toFixed(1), problems: [...left, ...warnings] };
  } catch (error) {
    return { folder, kilobytes: "?", problems: [`${folder}: ${error.message}`, ...left] };
  } finally {
    await build.close();
  }
}
