// Allowed imports: the direction between packages, no value cycles, and modules that a package must not
// import.
import { isBuiltin } from "node:module";
import { readSourceGraph } from "./source-graph.mjs";

export const about = "import direction, value cycles, no Node or vendor where it does not belong";

/** Allowed imports of a package from each other package. */
const everything = { values: true, types: true };
const typesOnly = { values: false, types: true };
/**
 * Providers and stores see the core through its ports; the values they share with it are messages and errors.
 */
const coreThroughPorts = {
  values: ["@parley/core/errors", "@parley/core/messages"],
  types: ["@parley/core/ports", "@parley/core/errors", "@parley/core/messages"],
};
const allowed = {
  wire: {},
  fold: { wire: typesOnly },
  http: {},
  core: { wire: everything, fold: everything, http: typesOnly },
  providers: { core: coreThroughPorts, http: everything, wire: everything },
  store: { core: coreThroughPorts, http: everything, wire: everything },
  tools: {
    core: {
      values: ["@parley/core/errors", "@parley/core/turn"],
      types: ["@parley/core/turn", "@parley/core/ports"],
    },
    http: everything,
  },
  server: { core: everything, fold: everything, wire: everything },
  client: { wire: everything, fold: everything },
  web: { client: everything, wire: everything },
};
/** The one file of a package that may import more: the agent drives the core's turn loop itself. */
const exceptions = { "packages/providers/src/ai-sdk/agent/agent.ts": ["@parley/core/turn"] };
/** The composition root chooses vendors and databases, and the test kit serves every package: both may import all. */
const free = ["cli", "testing"];
/** Imported by tests only. */
const testKit = "testing";

const withoutNode = ["wire", "fold", "core", "client", "web"];
const withoutVendors = ["wire", "fold", "http", "core"];
const vendors = /openai|anthropic|gpt|claude|vercel|mistral|gemini|ollama|deepseek/i;

export async function run({ root }) {
  const graph = readSourceGraph(root);
  const shipped = [...graph.files.values()].filter((file) => !file.isTest);
  const problems = [
    ...[...graph.files.values()].flatMap((file) => relativeAcross(graph, file)),
    ...shipped.flatMap(wrongDirection),
    ...shipped.flatMap(testKitInCode),
    ...shipped.flatMap(nodeWhereItIsNot),
    ...shipped.flatMap(vendorNames),
    ...nodeInHttp(graph),
    ...cycles(shipped).map((files) => `value cycle: ${[...files, files[0]].join(" -> ")}`),
  ];
  return {
    problems,
    note: `${shipped.length} files`,
    advice:
      "The direction is drawn in docs/architecture.md. Use `import type` where only a type is needed; move what two packages share downwards.",
  };
}

/**
 * Returns relative imports across packages. Tests may import the test harness; nothing else leaves its own
 * package by a relative path.
 */
function relativeAcross({ workspaces }, file) {
  const own = `${workspaces.find((workspace) => workspace.name === file.workspace).folder}/`;
  return file.imports
    .filter(({ from, target }) => from.startsWith(".") && !target.startsWith(own))
    .filter(({ target }) => !(file.isTest && target.startsWith("test/harness/")))
    .map((one) => at(file, one, `leaves its package by a relative path ("${one.from}")`));
}

function testKitInCode(file) {
  if (file.workspace === testKit) return [];
  return file.imports
    .filter(({ from }) => from.split("/").slice(0, 2).join("/") === `@parley/${testKit}`)
    .map((one) => at(file, one, `only tests may import ${one.from}`));
}

function wrongDirection(file) {
  if (free.includes(file.workspace)) return [];
  const rules = allowed[file.workspace] ?? {};
  return file.imports
    .filter(
      ({ from }) => from.startsWith("@parley/") && ![file.workspace, testKit].includes(from.split("/")[1]),
    )
    .filter(({ from }) => !exceptions[file.path]?.includes(from))
    .flatMap((one) => {
      const rule = rules[one.from.split("/")[1]];
      if (!rule) return [at(file, one, `${file.workspace} may not import ${one.from}`)];
      const which = one.typeOnly ? rule.types : rule.values;
      if (which === true || (Array.isArray(which) && which.includes(one.from))) return [];
      const what = one.typeOnly ? "types" : "values";
      return [at(file, one, `${file.workspace} may not import ${what} from ${one.from}`)];
    });
}

function nodeWhereItIsNot(file) {
  if (!withoutNode.includes(file.workspace)) return [];
  return file.imports
    .filter(({ from }) => isBuiltin(from))
    .map((one) => at(file, one, `${file.workspace} may not import ${one.from}`));
}

/**
 * Returns Node's modules in reach of the portable entry: they are allowed only behind `@parley/http/node`.
 */
function nodeInHttp({ files }) {
  const fromIndex = reachable(files, "packages/http/src/index.ts");
  const fromNode = reachable(files, "packages/http/src/node.ts");
  return [...files.values()]
    .filter(({ workspace, isTest }) => workspace === "http" && !isTest)
    .flatMap((file) =>
      file.imports
        .filter(({ from, typeOnly }) => isBuiltin(from) && !typeOnly)
        .filter(() => fromIndex.has(file.path) || !fromNode.has(file.path))
        .map((one) => at(file, one, `${one.from} is in reach of src/index.ts, or not of src/node.ts`)),
    );
}

function reachable(files, start) {
  const seen = new Set();
  const next = [start];
  for (let path = next.pop(); path !== undefined; path = next.pop()) {
    const file = files.get(path);
    if (!file || seen.has(path)) continue;
    seen.add(path);
    for (const { target, typeOnly } of file.imports) if (target && !typeOnly) next.push(target);
  }
  return seen;
}

function vendorNames(file) {
  if (!withoutVendors.includes(file.workspace)) return [];
  return file.text.split("\n").flatMap((line, index) => {
    const vendor = vendors.exec(line)?.[0];
    return vendor ? [`${file.path}:${index + 1}: ${file.workspace} names a vendor ("${vendor}")`] : [];
  });
}

/** Returns groups of files that load each other (Tarjan's strongly connected components). */
function cycles(files) {
  const edges = new Map(
    files.map(({ path, imports }) => [
      path,
      imports.filter(({ typeOnly, lazy }) => !typeOnly && !lazy).map(({ target }) => target),
    ]),
  );
  const order = new Map();
  const low = new Map();
  const stack = [];
  const groups = [];
  const visit = (path) => {
    order.set(path, order.size);
    low.set(path, order.get(path));
    stack.push(path);
    for (const target of edges.get(path)) {
      if (!edges.has(target)) continue;
      if (!order.has(target)) visit(target);
      if (stack.includes(target)) low.set(path, Math.min(low.get(path), low.get(target)));
    }
    if (low.get(path) !== order.get(path)) return;
    const group = stack.splice(stack.indexOf(path));
    if (group.length > 1 || edges.get(path).includes(path)) groups.push(group);
  };
  for (const path of edges.keys()) if (!order.has(path)) visit(path);
  return groups;
}

function at(file, { line }, problem) {
  return `${file.path}:${line}: ${problem}`;
}
