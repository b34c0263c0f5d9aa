import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { omitUndefined } from "@parley/fold";
import type { S3Options } from "@parley/store/objects";
import type { McpServerConfig } from "@parley/tools/mcp";
import { CliError, usageError } from "../cli-error.js";
import {
  type Config,
  type ConfigFlags,
  defaultPort,
  type Environment,
  folderStore,
  type ResolvedCredential,
  type StoreConfig,
} from "./config.js";
import type { ConfigFile, Credential, Given } from "./config-schema.js";
import type { ConfigIssue } from "./describe-issues.js";
import { environmentCredentials } from "./environment-credentials.js";
import { findConfig } from "./find-config.js";
import { nonEmpty } from "./non-empty.js";
import { userDataFolder } from "./paths.js";
import { type ReadConfig, readConfigFile } from "./read-config-file.js";

/** Where the configuration is looked for and what overrides it. */
export interface LoadContext {
  readonly flags?: ConfigFlags;
  readonly env?: Environment;
  readonly workingFolder?: string;
}

/** The configuration of this call: the file, then the environment, then the flags, the later one winning. */
export async function loadConfig(context: LoadContext = {}): Promise<Config> {
  const { flags = {}, env = process.env, workingFolder = process.cwd() } = context;
  const found = findConfig(flags.config, env, workingFolder);
  const read = found === undefined ? undefined : await readConfigFile(found.path);
  const content: ConfigFile = read?.content ?? {};
  const base = found?.base ?? workingFolder;
  const fault = faults(read);
  const port = flags.port ?? portFrom(env.PARLEY_PORT) ?? content.listen?.port ?? defaultPort;
  const fromFile = content.models === undefined ? undefined : fileCredentials(content.models, env, fault);
  const fromEnvironment = fromFile === undefined ? environmentCredentials(env) : undefined;
  const credentials = fromFile ?? fromEnvironment ?? new Map<string, ResolvedCredential>();
  const defaultModel = nonEmpty(env.PARLEY_MODEL) ?? content.defaultModel;
  const config: Config = {
    ...(found === undefined ? {} : { file: found.path }),
    store: {
      ...storeOf(content, { base, flags, env, workingFolder, fault }),
      ...omitUndefined({ s3: bucketOf(content.store?.s3, env, fault) }),
    },
    ...omitUndefined({
      secret: nonEmpty(env.PARLEY_SECRET),
      previousSecret: nonEmpty(env.PARLEY_SECRET_PREVIOUS),
    }),
    listen: { host: flags.host ?? nonEmpty(env.PARLEY_HOST) ?? content.listen?.host ?? "127.0.0.1", port },
    origins: content.origins ?? [],
    hosts: content.hosts ?? [],
    auth: content.auth ?? "auto",
    owner: flags.owner ?? nonEmpty(env.PARLEY_OWNER) ?? content.owner ?? "local",
    ...omitUndefined({ defaultModel }),
    credentials,
    credentialsFrom: credentials.size === 0 ? "nowhere" : fromFile === undefined ? "environment" : "file",
    ...only(content, "instructions", "reasoningEffort", "titleModel", "compactAt", "approvals", "webhooks"),
    ...only(content, "responseRetentionDays", "temporaryHours", "files", "connections", "starters"),
    keepRawResponses: content.keepRawResponses ?? false,
    tools: withRoots(content.tools ?? { time: true, calculator: true }, base),
    mcpServers: toolServersOf(content.mcpServers ?? {}, { base, env, fault }),
    limits: content.limits ?? {},
    ...(content.page === undefined ? {} : { page: resolve(base, content.page) }),
  };
  fault.check();
  return config;
}

/** Collects problems, so that all of them are reported at once. */
function faults(read: ReadConfig | undefined) {
  const issues: ConfigIssue[] = [];
  return {
    add(path: readonly PropertyKey[], message: string): void {
      issues.push({ path, message });
    },
    check(): void {
      if (issues.length > 0) {
        throw read?.complain(issues) ?? new CliError(issues.map(({ message }) => message).join("\n"));
      }
    },
  };
}

type Faults = ReturnType<typeof faults>;

function fileCredentials(
  models: Readonly<Record<string, Credential>>,
  env: Environment,
  fault: Faults,
): ReadonlyMap<string, ResolvedCredential> {
  return new Map(
    Object.entries(models).map(([name, credential]) => [
      name,
      resolveCredential(name, credential, env, fault),
    ]),
  );
}

const usualVariable = { openai: "OPENAI_API_KEY", anthropic: "ANTHROPIC_API_KEY" } as const;

function resolveCredential(
  name: string,
  credential: Credential,
  env: Environment,
  fault: Faults,
): ResolvedCredential {
  if (credential.kind === "demo" || credential.kind === "custom") return credential;
  const path = ["models", name];
  const { apiKey, baseUrl, ...rest } = credential;
  const variable = credential.kind === "compatible" ? undefined : usualVariable[credential.kind];
  const key =
    apiKey === undefined
      ? nonEmpty(variable && env[variable])
      : lookUp(apiKey, [...path, "apiKey"], env, fault);
  if (key === undefined && apiKey === undefined && variable !== undefined) {
    fault.add(
      path,
      `has no apiKey; set ${variable}, or name another variable with "apiKey": { "env": "..." }`,
    );
  }
  const url = baseUrl === undefined ? undefined : lookUp(baseUrl, [...path, "baseUrl"], env, fault);
  return {
    ...rest,
    ...omitUndefined({ apiKey: key, baseUrl: url }),
  } as ResolvedCredential;
}

function lookUp(value: Given, path: readonly string[], env: Environment, fault: Faults): string | undefined {
  if (typeof value === "string") return value;
  const found = nonEmpty(env[value.env]);
  if (found === undefined) fault.add(path, `the environment variable ${value.env} is not set`);
  return found;
}

interface StoreContext {
  readonly base: string;
  readonly flags: ConfigFlags;
  readonly env: Environment;
  readonly workingFolder: string;
  readonly fault: Faults;
}

function storeOf(content: ConfigFile, { base, flags, env, workingFolder, fault }: StoreContext): StoreConfig {
  const override = flags.store ?? nonEmpty(env.PARLEY_STORE);
  const schema = omitUndefined({ schema: content.store?.schema });
  const schemas = omitUndefined({ schemas: content.store?.schemas });
  const engine = omitUndefined({ engine: content.store?.engine });
  if (override !== undefined) {
    if (isPostgresUrl(override)) return { kind: "postgres", url: override, ...schema, ...schemas };
    return {
      kind: "folder",
      folder: resolve(workingFolder, override),
      durable: content.store?.durable ?? true,
      ...schema,
      ...engine,
    };
  }
  const { store = {} } = content;
  const limits = only(
    store,
    "maxConnections",
    "connectTimeoutMs",
    "statementTimeoutMs",
    "longStatementTimeoutMs",
    "answerGraceMs",
  );
  if (store.shards !== undefined) {
    const shards = store.shards.map((shard, place) => {
      const path = ["store", "shards", String(place)];
      const { name, schema, transactionPooler } = shard;
      return {
        name,
        ...omitUndefined({ schema, transactionPooler }),
        ...addressesOf(shard, path, env, fault),
      };
    });
    return { kind: "postgres", url: shards[0]?.url ?? "", shards, ...limits };
  }
  if (store.url === undefined) {
    if (store.schemas !== undefined) {
      fault.add(["store", "schemas"], "needs `url` beside it: the address of the PostgreSQL server");
    }
    return {
      kind: "folder",
      folder: store.folder === undefined ? defaultFolder(base, env) : resolve(base, store.folder),
      durable: store.durable ?? true,
      ...schema,
      ...engine,
    };
  }
  return {
    kind: "postgres",
    ...addressesOf(
      { url: store.url, ...omitUndefined({ listenUrl: store.listenUrl }) },
      ["store"],
      env,
      fault,
    ),
    ...schema,
    ...schemas,
    ...limits,
    ...only(store, "transactionPooler"),
  };
}

/** The addresses of a PostgreSQL server, with what stands in the environment looked up. */
function addressesOf(
  given: { readonly url: Given; readonly listenUrl?: Given | false | undefined },
  path: readonly string[],
  env: Environment,
  fault: Faults,
): { readonly url: string; readonly listenUrl?: string | false } {
  const url = lookUp(given.url, [...path, "url"], env, fault) ?? "";
  if (url !== "" && !isPostgresUrl(url)) {
    fault.add([...path, "url"], "expected the address of a PostgreSQL server: postgres://user@host/database");
  }
  const listenUrl =
    given.listenUrl === undefined || given.listenUrl === false
      ? given.listenUrl
      : lookUp(given.listenUrl, [...path, "listenUrl"], env, fault);
  return { url, ...omitUndefined({ listenUrl }) };
}

/** The bucket for files. Its keys are looked up where AWS's own programs look for them, too. */
function bucketOf(
  bucket: NonNullable<ConfigFile["store"]>["s3"],
  env: Environment,
  fault: Faults,
): S3Options | undefined {
  if (bucket === undefined) return undefined;
  const { accessKeyId, secretAccessKey, sessionToken, ...rest } = bucket;
  const find = (name: string, value: Given | undefined, variable: string) => {
    if (value !== undefined) return lookUp(value, ["store", "s3", name], env, fault);
    return nonEmpty(env[variable]);
  };
  const required = (name: string, value: Given | undefined, variable: string) => {
    const found = find(name, value, variable);
    if (found === undefined && value === undefined) {
      const advice = `set ${variable}, or name another variable with "${name}": { "env": "..." }`;
      fault.add(["store", "s3"], `has no ${name}; ${advice}`);
    }
    return found ?? "";
  };
  return {
    ...rest,
    accessKeyId: required("accessKeyId", accessKeyId, "AWS_ACCESS_KEY_ID"),
    secretAccessKey: required("secretAccessKey", secretAccessKey, "AWS_SECRET_ACCESS_KEY"),
    ...omitUndefined({
      region: rest.region ?? nonEmpty(env.AWS_REGION),
      sessionToken: find("sessionToken", sessionToken, "AWS_SESSION_TOKEN"),
    }),
  };
}

/** Looks up the secrets of servers of tools. Their folders start where the file lies. */
function toolServersOf(
  servers: NonNullable<ConfigFile["mcpServers"]>,
  { base, env, fault }: { readonly base: string; readonly env: Environment; readonly fault: Faults },
): Config["mcpServers"] {
  const found = Object.entries(servers).map(([name, server]): [string, McpServerConfig] => {
    const lookUpAll = (field: string, values: Readonly<Record<string, Given>> = {}) =>
      Object.fromEntries(
        Object.entries(values).map(([key, value]) => {
          return [key, lookUp(value, ["mcpServers", name, field, key], env, fault) ?? ""];
        }),
      );
    if ("url" in server) {
      const { headers, clientSecret: given, ...rest } = server;
      const place = ["mcpServers", name, "clientSecret"];
      const clientSecret = given === undefined ? undefined : lookUp(given, place, env, fault);
      const secrets = omitUndefined({ clientSecret });
      return [
        name,
        { ...omitUndefined(rest), ...secrets, url: server.url, headers: lookUpAll("headers", headers) },
      ];
    }
    const { env: given, cwd, ...rest } = server;
    const folder = resolve(base, cwd ?? ".");
    return [
      name,
      { ...omitUndefined(rest), command: server.command, env: lookUpAll("env", given), cwd: folder },
    ];
  });
  return Object.fromEntries(found);
}

/** The folder's own store where there is one, else the user's: a call in any folder finds the same conversations. */
function defaultFolder(base: string, env: Environment): string {
  const own = resolve(base, folderStore);
  return existsSync(own) ? own : join(userDataFolder(env), "store");
}

function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}

/** Folders that tools may read start where the file lies, like all paths in it. */
function withRoots(tools: NonNullable<ConfigFile["tools"]>, base: string): NonNullable<ConfigFile["tools"]> {
  if (tools.files === undefined || tools.files === false) return tools;
  return { ...tools, files: { ...tools.files, root: resolve(base, tools.files.root) } };
}

function portFrom(text: string | undefined): number | undefined {
  const value = nonEmpty(text);
  if (value === undefined) return undefined;
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value);
  throw usageError("PARLEY_PORT is not a port: a number from 0 to 65535 is expected.");
}

/** The members that are there, so that an absent one stays absent. */
function only<Whole extends object, Key extends keyof Whole>(
  whole: Whole,
  ...keys: readonly Key[]
): { [Name in Key]?: Exclude<Whole[Name], undefined> } {
  const picked: { [Name in Key]?: Exclude<Whole[Name], undefined> } = {};
  for (const key of keys) {
    const value = whole[key];
    if (value !== undefined) picked[key] = value as Exclude<Whole[Key], undefined>;
  }
  return picked;
}
