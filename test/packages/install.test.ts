import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { FreshProject, tools } from "./fresh-project.js";

const packed = inject("packed");
/** Every entry of every package, as it is imported. */
const entries = packed.flatMap(({ name, exports }) =>
  Object.keys(exports)
    .filter((path) => !path.endsWith(".json"))
    .map((path) => `${name}${path.slice(1)}`),
);
const imports = entries.map((entry, index) => `import * as entry${index} from "${entry}";`).join("\n");
const all = `${imports}\nexport const all = [${entries.map((_, index) => `entry${index}`).join(", ")}];\n`;

/** An application of its own, with the server's app mounted in it. */
const mounted = `
import { systemClock } from "@parley/core";
import { createRuntime, createModelCatalog } from "@parley/core/runtime";
import { createApp } from "@parley/server";
import { createMemoryLogStore } from "@parley/testing";
import { DemoProviderAdapter, demoContextWindow } from "@parley/providers/demo";
import { Hono } from "hono";

const provider = new DemoProviderAdapter({ pace: "instant" });
const models = createModelCatalog([
  { name: "demo/demo", provider, providerName: "demo", model: "demo", contextWindow: demoContextWindow },
]);
const runtime = await createRuntime({ store: createMemoryLogStore({ clock: systemClock }), models });
const parley = createApp(runtime, { auth: "open" });
const app = new Hono().route("/parley", parley.hono);
const response = await app.request("http://127.0.0.1/parley/models");
const { defaultModel } = (await response.json()) as { defaultModel: string };
console.log(response.status, defaultModel);
await parley.close();
await runtime.close();
`;

const strict = ["--noEmit", "--strict", "--skipLibCheck", "false", "--target", "es2022", "--types", "node"];

function compile(
  project: FreshProject,
  compiler: string,
  module: string,
  resolution: string,
  ...files: string[]
) {
  const program = join(project.folder, "node_modules", compiler, "bin", "tsc");
  return project.run(process.execPath, [
    program,
    ...strict,
    "--module",
    module,
    "--moduleResolution",
    resolution,
    ...files,
  ]);
}

describe("all packages in a project of TypeScript", () => {
  let project: FreshProject;
  beforeAll(async () => {
    project = new FreshProject();
    const { typescript, olderTypescript, nodeTypes, jsonSchemaTypes, react } = tools;
    const others = [
      typescript,
      olderTypescript,
      nodeTypes,
      jsonSchemaTypes,
      ...react,
      "ai@6.0.326",
      "hono",
      "zod",
    ];
    await project.install(...packed.map(({ name }) => name), ...others);
    project.write("all.mts", all);
    project.write("mounted.mts", mounted);
    project.write("all.cts", entries.map((entry) => `require("${entry}");`).join("\n"));
    project.write(
      "all.cjs",
      `${entries.map((entry) => `require("${entry}");`).join("\n")}\nconsole.log("required");\n`,
    );
  });
  afterAll(() => project.remove());

  it.each([
    ["typescript", "node16", "node16"],
    ["typescript", "nodenext", "nodenext"],
    ["typescript", "esnext", "bundler"],
    ["typescript-5", "nodenext", "nodenext"],
    ["typescript-5", "esnext", "bundler"],
  ])(
    "compiles with the libraries checked: %s, module %s, resolution %s",
    async (compiler, module, resolution) => {
      expect(await compile(project, compiler, module, resolution, "all.mts", "mounted.mts")).toEqual({
        code: 0,
        output: "",
      });
    },
  );

  it("loads by require", async () => {
    const { output } = await project.run(process.execPath, ["--no-warnings", "all.cjs"]);
    expect(output).toBe("required\n");
  });

  it("runs in an application of the stranger's own", async () => {
    const program = join(project.folder, "node_modules", "typescript", "bin", "tsc");
    const options = ["--outDir", "built", "--module", "nodenext", "--target", "es2022", "--types", "node"];
    await project.ok(process.execPath, [program, ...options, "--skipLibCheck", "mounted.mts"]);
    expect(await project.ok(process.execPath, ["built/mounted.mjs"])).toBe("200 demo/demo\n");
  });

  it("leaves nothing out that a map or a manifest names, and brings no build state", () => {
    for (const { name, exports } of packed) {
      const folder = join(project.folder, "node_modules", name);
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
        (file) => !file.startsWith("node_modules"),
      );
      expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json"]));
      expect(files.filter((file) => /tsbuildinfo|\.test\.|test-support|\.parley-built/.test(file))).toEqual(
        [],
      );
      expect(missingSources(folder, files), name).toEqual([]);
      const named = [JSON.stringify(exports).match(/\.\/[^"]+/g) ?? []].flat();
      expect(
        named.filter((path) => /\.\w+$/.test(path) && !existsSync(join(folder, path))),
        name,
      ).toEqual([]);
    }
  });
});

/** Returns the sources that the maps of a package name and that are missing. */
function missingSources(folder: string, files: readonly string[]): string[] {
  return files
    .filter((file) => /\.(js|ts)\.map$/.test(file))
    .flatMap((file) => {
      const { sources } = JSON.parse(readFileSync(join(folder, file), "utf8")) as { sources: string[] };
      return sources.map((source) => join(dirname(join(folder, file)), source));
    })
    .filter((source) => !existsSync(source))
    .map((source) => relative(folder, source));
}
