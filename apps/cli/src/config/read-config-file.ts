import { readFile } from "node:fs/promises";
import { relative } from "node:path";
import { pathToFileURL } from "node:url";
import { CliError } from "../cli-error.js";
import { type ConfigFile, configSchema } from "./config-schema.js";
import { type ConfigIssue, describeIssues } from "./describe-issues.js";
import { JsonSyntaxError, type PlacedJson, readPlacedJson } from "./json-places.js";
import { knownKeys } from "./known-keys.js";

/** A configuration file that was read and found to be in order. */
export interface ReadConfig {
  readonly content: ConfigFile;
  /** An error about values of this file: it says where they stand and what is wrong with them. */
  complain(issues: readonly ConfigIssue[]): CliError;
}

/** Reads a file of either kind. A JSON file's errors name the line, a module's the path of the value. */
export async function readConfigFile(path: string): Promise<ReadConfig> {
  const placed = path.endsWith(".json") ? await readJson(path) : undefined;
  const raw = placed === undefined ? await importModule(path) : placed.value;
  const complain = (issues: readonly ConfigIssue[]) => complaint(path, issues, placed);
  const parsed = configSchema.safeParse(raw, { reportInput: true });
  const issues = [
    ...(parsed.success ? [] : describeIssues(parsed.error.issues, knownKeys)),
    ...unsetValues(raw),
  ];
  if (!parsed.success || issues.length > 0) throw complain(issues);
  return { content: parsed.data, complain };
}

async function readJson(path: string): Promise<PlacedJson> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new CliError(`The configuration file ${path} cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  });
  try {
    return readPlacedJson(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new CliError(`${shown(path)}:${error.line}:${error.column} is not valid JSON: ${error.message}.`);
  }
}

async function importModule(path: string): Promise<unknown> {
  try {
    const loaded = (await import(pathToFileURL(path).href)) as { default?: unknown };
    if (loaded.default !== undefined) return loaded.default;
  } catch (error) {
    throw new CliError(
      `The configuration file ${shown(path)} cannot be loaded: ${messageOf(error)}${placeIn(error, path)}`,
      {
        cause: error,
      },
    );
  }
  throw new CliError(`The configuration file ${shown(path)} exports nothing.`, {
    advice: "It should say `export default { ... }`.",
  });
}

/**
 * A value that is undefined was meant to come from a variable that is not set. Falling back in silence would
 * give one credential the key of another, or open the embedded database in place of a server.
 */
function unsetValues(raw: unknown): ConfigIssue[] {
  if (!isObject(raw)) return [];
  const places: (readonly string[])[] = [["store", "url"]];
  if (isObject(raw.models)) {
    for (const [name, credential] of Object.entries(raw.models)) {
      if (!isObject(credential)) continue;
      // A local server may well be asked without a key.
      if (credential.kind !== "compatible") places.push(["models", name, "apiKey"]);
    }
  }
  return places
    .filter((path) => {
      const holder = path
        .slice(0, -1)
        .reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), raw);
      const last = path.at(-1) ?? "";
      return isObject(holder) && Object.hasOwn(holder, last) && holder[last] === undefined;
    })
    .map((path) => ({
      path,
      message: "is undefined; is the environment variable set that it is read from?",
    }));
}

function complaint(path: string, issues: readonly ConfigIssue[], placed: PlacedJson | undefined): CliError {
  const lines = issues.map(({ path: at, message }) => {
    const where = placed === undefined ? shown(path) : `${shown(path)}:${placed.lineOf(at)}`;
    const what = at.length === 0 ? "the configuration" : pathText(at);
    return `${where}: ${what}: ${message}`;
  });
  const head =
    issues.length === 1
      ? "The configuration has a mistake:"
      : `The configuration has ${issues.length} mistakes:`;
  return new CliError([head, ...lines.map((line) => `  ${line}`)].join("\n"), {
    advice: "docs/guides/configuration.md describes every setting.",
  });
}

/** `models.openai.models[0].name`, as one would write it in code. */
function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => {
      if (typeof part === "number" || /^\d+$/.test(String(part))) return `[${String(part)}]`;
      const name = String(part);
      if (!/^[A-Za-z_$][\w$]*$/.test(name)) return `[${JSON.stringify(name)}]`;
      return index === 0 ? name : `.${name}`;
    })
    .join("");
}

/** The line of a module at which it threw, where the stack tells. */
function placeIn(error: unknown, path: string): string {
  if (!(error instanceof Error) || error.stack === undefined) return "";
  const found = error.stack.split("\n").find((line) => line.includes(`${path}:`));
  const place = /:(\d+)(?::\d+)?\)?$/.exec(found ?? "")?.[1];
  return place === undefined ? "" : ` (line ${place})`;
}

/** Short when it lies below the working folder. */
function shown(path: string): string {
  const short = relative(process.cwd(), path);
  return short !== "" && !short.startsWith("..") ? short : path;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
