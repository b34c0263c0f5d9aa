// The packages of the tree, their TypeScript files, and their imports.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { parseSync, Visitor } from "rolldown/utils";
import { projects } from "../setup.mjs";

/**
 * Returns every TypeScript file below the `src` folder of each package and app, as
 * `{ path, workspace, isTest, text, imports: [{ from, line, typeOnly, lazy, target }] }`.
 * `path` is relative to the root, `workspace` is the package's folder name, and `target` the path of the imported
 * file if it is one of ours.
 */
export function readSourceGraph(root) {
  const workspaces = projects().map((folder) => readWorkspace(root, folder));
  const files = new Map();
  for (const workspace of workspaces) {
    for (const path of listSources(root, `${workspace.folder}/src`)) {
      const text = readFileSync(join(root, path), "utf8");
      const isTest = /\.(test|test-d|test-support|bench)\.tsx?$/.test(path);
      files.set(path, { path, workspace: workspace.name, isTest, text, imports: readImports(path, text) });
    }
  }
  for (const file of files.values()) {
    for (const one of file.imports) one.target = findTarget(root, workspaces, files, file, one.from);
  }
  return { workspaces, files };
}

function readWorkspace(root, folder) {
  const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  return { folder, name: folder.split("/")[1], manifest };
}

function listSources(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${folder}/${name.split(sep).join("/")}`)
    .sort();
}

function readImports(path, text) {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0].message}`);
  const imports = [];
  const add = (node, source, typeOnly, lazy = false) => {
    if (typeof source?.value !== "string") return;
    imports.push({ from: source.value, line: text.slice(0, node.start).split("\n").length, typeOnly, lazy });
  };
  new Visitor({
    // `import { type A }` is a value import: it still loads the module.
    ImportDeclaration: (node) => add(node, node.source, node.importKind === "type"),
    ExportNamedDeclaration: (node) => add(node, node.source, node.exportKind === "type"),
    ExportAllDeclaration: (node) => add(node, node.source, node.exportKind === "type"),
    TSImportType: (node) => add(node, node.source ?? node.argument, true),
    ImportExpression: (node) => add(node, node.source, false, true),
  }).visit(program);
  return imports;
}

function findTarget(root, workspaces, files, file, from) {
  if (from.startsWith(".")) {
    const path = relative(root, resolve(root, dirname(file.path), from))
      .split(sep)
      .join("/");
    const stem = path.replace(/\.jsx?$/, "");
    return [path, `${stem}.ts`, `${stem}.tsx`].find((candidate) => files.has(candidate)) ?? path;
  }
  const workspace = workspaces.find(
    ({ manifest }) => from === manifest.name || from.startsWith(`${manifest.name}/`),
  );
  const source =
    workspace?.manifest.exports?.[`.${from.slice(workspace.manifest.name.length)}`]?.["parley-source"];
  return source && `${workspace.folder}/${source.replace(/^\.\//, "")}`;
}
