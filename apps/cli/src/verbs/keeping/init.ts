import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { calledAs } from "../../called-as.js";
import { CliError, usageError } from "../../cli-error.js";
import { loadsTypeScript } from "../../config/find-config.js";
import { configTemplate, type TemplateKind } from "../../config/template.js";
import type { VerbContext } from "../../verb-context.js";
import { packageVersion } from "../../version.js";

export interface InitOptions {
  readonly json?: boolean;
  readonly ts?: boolean;
  readonly starter?: boolean;
}

/** Writes a commented configuration file into a folder, or a whole project with a chat page. */
export async function init(
  folder: string | undefined,
  options: InitOptions,
  context: VerbContext,
): Promise<void> {
  const target = resolve(folder ?? ".");
  if (options.starter) return writeStarter(target, context);
  const kind = chosenKind(options);
  const found = existsSync(target)
    ? readdirSync(target).find((name) => /^parley\.config\.[a-z]+$/.test(name))
    : undefined;
  if (found !== undefined) {
    throw new CliError(`There is a configuration file already: ${shown(join(target, found))}.`, {
      advice: "Change that one, or remove it first.",
    });
  }
  mkdirSync(target, { recursive: true });
  const file = join(target, `parley.config.${kind}`);
  const installed = existsSync(join(target, "node_modules/@parley/cli/package.json"));
  writeFileSync(file, configTemplate(kind, { installed, version: packageVersion() }));
  context.io.note(`Wrote ${shown(file)}. Every setting in it is explained and can be left out.`);
}

function chosenKind({ json, ts }: InitOptions): TemplateKind {
  if (json && ts) throw usageError("--json and --ts are two kinds of file.", "Choose one of them.");
  if (ts && !loadsTypeScript()) {
    throw usageError(
      `Node ${process.versions.node} does not load TypeScript, so a configuration in it could not be read.`,
      "Use Node 22.18 or newer, or leave --ts out: an editor checks the .mjs file just the same.",
    );
  }
  return json ? "json" : ts ? "ts" : "mjs";
}

const starter = fileURLToPath(new URL("../../../starter", import.meta.url));
/** Files that npm would not pack, or would take for its own, under the names that they have in the package. */
const renamed = { "package.template.json": "package.json", "gitignore.template": ".gitignore" };

function writeStarter(target: string, { io }: VerbContext): void {
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new CliError(`${shown(target)} is not empty.`, {
      advice: "Name a folder that is not there yet: `parley init --starter my-chat`.",
    });
  }
  cpSync(starter, target, { recursive: true });
  for (const [from, to] of Object.entries(renamed)) renameSync(join(target, from), join(target, to));
  const manifestPath = join(target, "package.json");
  const manifest = JSON.parse(readFileSync(manifestPath, "utf8")) as StarterManifest;
  manifest.name =
    basename(target)
      .toLowerCase()
      .replace(/[^a-z0-9._-]+/g, "-")
      .replace(/^[._-]+/, "") || "chat";
  for (const name of Object.keys(manifest.dependencies)) {
    if (name.startsWith("@parley/")) manifest.dependencies[name] = packageVersion();
  }
  writeFileSync(manifestPath, `${JSON.stringify(manifest, undefined, 2)}\n`);
  io.note(
    `Made a project in ${shown(target)}. Next:\n\n  cd ${shown(target)}\n  npm install\n  npm start\n\n` +
      `Its README.md says what is where; ${calledAs()} --help what else there is.`,
  );
}

interface StarterManifest {
  name: string;
  dependencies: Record<string, string>;
}

function shown(path: string): string {
  const short = relative(process.cwd(), path);
  return short === "" ? "." : short.startsWith("..") ? path : short;
}
