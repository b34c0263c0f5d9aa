import { type ConnectionRequests, connectionRequests } from "@parley/client/connections";
import type { ConnectionInfo, ConnectionKind, TestConnectionResponse } from "@parley/wire";
import { CliError, exitCodes, usageError } from "../../cli-error.js";
import { suggest } from "../../config/suggest.js";
import { ago, tokens } from "../../terminal/figures.js";
import { readLine } from "../../terminal/read-line.js";
import { table } from "../../terminal/table.js";
import type { VerbContext } from "../../verb-context.js";
import { readAll } from "../talking/read-prompt.js";

export interface AddConnectionOptions extends KeyOptions {
  readonly name?: string;
  readonly address?: string;
  readonly models?: string;
  readonly json?: boolean;
}

export interface KeyOptions {
  /** The environment variable that holds the key. */
  readonly keyFromEnv?: string;
  /** The key is on standard input. */
  readonly keyFromStdin?: boolean;
  /** There is no key. */
  readonly key?: boolean;
}

export interface ChangeConnectionOptions extends KeyOptions {
  readonly address?: string;
  readonly models?: string;
  readonly json?: boolean;
}

/** Connects to a provider: asks for what is missing where somebody sits at the terminal. */
export async function addConnection(
  kindName: string | undefined,
  options: AddConnectionOptions,
  context: VerbContext,
): Promise<void> {
  const { io } = context;
  const connections = await requests(context);
  const { kinds, cannotAdd } = await connections.list({ signal: context.signal });
  if (cannotAdd !== undefined) throw new CliError(cannotAdd);
  const kind = await chooseKind(kindName, kinds, context);
  const url = options.address ?? (await askForUrl(kind, context));
  const apiKey = await readKey(kind, options, context);
  const connection = await connections.add(
    { kind: kind.kind, name: options.name, baseUrl: url, apiKey, models: listed(options.models) },
    { signal: context.signal },
  );
  if (options.json) return io.json(connection);
  printModels(connection, context);
}

/** Changes the key, the address or the models of a connection. */
export async function changeConnection(
  name: string,
  options: ChangeConnectionOptions,
  context: VerbContext,
): Promise<void> {
  const connections = await requests(context);
  const { connections: known, kinds } = await connections.list({ signal: context.signal });
  const found = known.find((each) => each.name === name);
  if (found === undefined) throw unknown(name, known);
  const kind = kinds.find((each) => each.kind === found.kind);
  const wantsKey = options.keyFromEnv !== undefined || options.keyFromStdin === true || isBare(options);
  const apiKey = kind !== undefined && wantsKey ? await readKey(kind, options, context) : undefined;
  const connection = await connections.change(
    name,
    { apiKey, baseUrl: options.address, models: options.models === "all" ? null : listed(options.models) },
    { signal: context.signal },
  );
  if (options.json) return context.io.json(connection);
  printModels(connection, context);
}

/** Lists connections, without their keys. */
export async function listConnections(
  options: { readonly json?: boolean },
  context: VerbContext,
): Promise<void> {
  const { io } = context;
  const { connections, cannotAdd } = await (await requests(context)).list({ signal: context.signal });
  if (options.json) return io.json(connections);
  const { style } = io;
  const now = Date.now();
  io.lines(
    table<ConnectionInfo>(
      connections,
      [
        { title: "name", text: ({ name }) => name, paint: (text) => style.cyan(text) },
        { title: "kind", text: ({ kind }) => kind },
        { title: "from", text: ({ source }) => source },
        { title: "address", text: ({ baseUrl = "" }) => baseUrl, shrink: true },
        { title: "key", text: ({ hasKey }) => (hasKey ? "yes" : "none") },
        { title: "models", text: ({ models }) => String(models.length), align: "right" },
        { title: "added", text: ({ createdAt }) => (createdAt === undefined ? "" : ago(createdAt, now)) },
        { title: "", text: ({ problem = "" }) => problem, shrink: true, paint: (text) => style.yellow(text) },
      ],
      { columns: io.columns, paintTitle: (text) => style.bold(text) },
    ),
  );
  if (cannotAdd !== undefined) io.note(cannotAdd);
}

/** Asks the provider of a connection for its models; fails if it does not answer. */
export async function testConnection(
  name: string,
  options: { readonly json?: boolean },
  context: VerbContext,
): Promise<number> {
  const { io } = context;
  const answer = await (await requests(context)).test(name, { signal: context.signal });
  if (options.json) io.json(answer);
  else io.line(describeTest(name, answer));
  return answer.ok ? exitCodes.ok : exitCodes.failure;
}

/** Renames a connection: its models have other names from then on. */
export async function renameConnection(name: string, newName: string, context: VerbContext): Promise<void> {
  await (await requests(context)).change(name, { name: newName }, { signal: context.signal });
  context.io.note(
    `Renamed ${name} to ${newName}. Conversations that used its models have to choose them again: parley model <conversation> ${newName}/...`,
  );
}

/** Removes a connection with its key. */
export async function removeConnection(name: string, context: VerbContext): Promise<void> {
  const connections = await requests(context);
  if (await connections.remove(name, { signal: context.signal })) {
    context.io.note(`Removed ${name} with its key. Turns that run go on.`);
    return;
  }
  throw unknown(name, (await connections.list({ signal: context.signal })).connections);
}

async function requests(context: VerbContext): Promise<ConnectionRequests> {
  return connectionRequests((await context.client()).request);
}

async function chooseKind(
  given: string | undefined,
  kinds: readonly ConnectionKind[],
  { io }: VerbContext,
): Promise<ConnectionKind> {
  const names = kinds.map(({ kind }) => kind);
  if (given === undefined && io.isInteractive) {
    for (const { kind, title } of kinds) io.note(`  ${kind.padEnd(12)} ${title}`);
  }
  const wanted = given ?? (io.isInteractive ? await readLine("Provider: ") : "");
  const found = kinds.find(({ kind }) => kind === wanted);
  if (found !== undefined) return found;
  const meant = suggest(wanted, names);
  throw usageError(
    wanted === "" ? "The kind of provider is missing." : `"${wanted}" is not a kind of provider.`,
    meant === undefined ? `Use one of ${names.join(", ")}.` : `Did you mean "${meant}"?`,
  );
}

async function askForUrl(kind: ConnectionKind, { io }: VerbContext): Promise<string | undefined> {
  if (kind.baseUrl === "optional") return undefined;
  if (!io.isInteractive) throw usageError("The address is missing.", "Give it with --address.");
  const usual = kind.usualBaseUrl;
  const answer = await readLine(`Address${usual === undefined ? "" : ` (${usual})`}: `);
  return answer === "" ? usual : answer;
}

async function readKey(
  kind: ConnectionKind,
  { keyFromEnv, keyFromStdin, key }: KeyOptions,
  { io }: VerbContext,
): Promise<string | undefined> {
  if (key === false) return undefined;
  if (keyFromEnv !== undefined) {
    const value = process.env[keyFromEnv]?.trim() ?? "";
    if (value === "")
      throw usageError(
        `The environment variable ${keyFromEnv} is not set.`,
        "Set it to the key, and export it.",
      );
    return value;
  }
  if (keyFromStdin === true) {
    const value = (await readAll(process.stdin)).trim();
    if (value === "") throw usageError("There is no key on standard input.", "Pipe the key in.");
    return value;
  }
  if (!io.isInteractive) {
    if (kind.key === "optional") return undefined;
    throw usageError("The key is missing.", "Give it with --key-from-env or --key-from-stdin.");
  }
  const typed = await readLine(`API key${kind.key === "optional" ? " (empty for none)" : ""}: `, {
    isSecret: true,
  });
  if (typed === "" && kind.key === "required")
    throw usageError("This kind of provider needs a key.", "Call this again and enter the key.");
  return typed === "" ? undefined : typed;
}

function isBare({ address, models }: ChangeConnectionOptions): boolean {
  return address === undefined && models === undefined;
}

function listed(models: string | undefined): string[] | undefined {
  return models
    ?.split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

function printModels({ name, models, problem }: ConnectionInfo, { io }: VerbContext): void {
  const shown = models.slice(0, 8).map((model) => {
    const window = model.contextWindow === undefined ? "" : ` (${tokens(model.contextWindow)})`;
    return `  ${name}/${model.name}${window}`;
  });
  const more = models.length > shown.length ? [`  and ${models.length - shown.length} more`] : [];
  io.lines([
    `Connected: ${name}, with ${models.length} ${models.length === 1 ? "model" : "models"}.`,
    ...shown,
    ...more,
  ]);
  if (problem !== undefined) io.warn(problem);
}

function describeTest(name: string, { ok, models = [], error, durationMs }: TestConnectionResponse): string {
  return ok
    ? `${name} answers in ${durationMs} ms and lists ${models.length} ${models.length === 1 ? "model" : "models"}.`
    : `${name} cannot be used: ${error}.`;
}

function unknown(name: string, known: readonly ConnectionInfo[]): CliError {
  const names = known.map((each) => each.name);
  const meant = suggest(name, names);
  return new CliError(`There is no connection "${name}".`, {
    advice: meant === undefined ? `There is ${names.join(", ")}.` : `Did you mean "${meant}"?`,
  });
}
