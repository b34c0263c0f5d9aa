// Prepares the reference of every public module of every package, made from its types.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../install.mjs";

/** Public modules with types, as `{ name, types }`, in the order of the packages. */
function publicModules() {
  return readdirSync(join(root, "packages")).flatMap((folder) => {
    const { name, exports } = JSON.parse(
      readFileSync(join(root, "packages", folder, "package.json"), "utf8"),
    );
    return Object.entries(exports)
      .filter(([, target]) => typeof target === "object" && target.types !== undefined)
      .map(([path, { types }]) => ({
        name: name + path.slice(1),
        types: join(root, "packages", folder, types),
      }));
  });
}

/** Writes what the generator reads, into `pagesFolder`. Returns the file with its options and the number of modules. */
export function writeReference(pagesFolder) {
  const modules = publicModules();
  const sources = join(pagesFolder, ".reference");
  for (const { name, types } of modules) {
    const file = join(sources, `${name.replace(/^@parley\//, "")}.ts`);
    mkdirSync(dirname(file), { recursive: true });
    const from = types.replace(/\.d\.ts$/, ".js");
    writeFileSync(
      file,
      `/**\n * \`import { ... } from "${name}"\`\n *\n * @module ${name}\n */\nexport * from ${JSON.stringify(from)};\n`,
    );
  }
  const tsconfig = join(sources, "tsconfig.json");
  const compilerOptions = {
    module: "nodenext",
    target: "es2023",
    lib: ["ES2023", "ESNext.Disposable", "DOM", "DOM.Iterable", "DOM.AsyncIterable"],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules", "@types")],
  };
  writeFileSync(tsconfig, JSON.stringify({ compilerOptions, include: ["**/*.ts"] }, null, 2));
  const options = join(sources, "typedoc.json");
  writeFileSync(
    options,
    JSON.stringify(
      {
        entryPoints: [join(sources, "**/*.ts")],
        tsconfig,
        plugin: ["typedoc-plugin-markdown"],
        out: join(pagesFolder, "api"),
        name: "API by package",
        readme: "none",
        router: "module",
        entryFileName: "index",
        hidePageHeader: true,
        hideBreadcrumbs: true,
        disableSources: true,
        excludePrivate: true,
        excludeInternal: true,
        parametersFormat: "table",
        interfacePropertiesFormat: "table",
        enumMembersFormat: "table",
        typeDeclarationFormat: "table",
        sanitizeComments: true,
        logLevel: "Error",
        validation: false,
        skipErrorChecking: true,
      },
      null,
      2,
    ),
  );
  return { options, count: modules.length };
}
