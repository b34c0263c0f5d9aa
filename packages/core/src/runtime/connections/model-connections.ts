import { omitUndefined } from "@parley/fold";
import type {
  AddConnectionRequest,
  ChangeConnectionRequest,
  ConnectionInfo,
  ConnectionModel,
  ConnectionSettings,
  ConnectionsResponse,
  TestConnectionResponse,
} from "@parley/wire";
import { type Clock, systemClock } from "../../clock.js";
import { invalidField, isParleyError, ParleyError, toParleyError } from "../../errors.js";
import type { Wake } from "../../ports/log-store.js";
import type { OpenedSecret, SecretRecord, Secrets } from "../../ports/secret-store.js";
import { createModelCatalog, type ModelBinding, type ModelCatalog } from "../models.js";
import { Sweep } from "../nodes/sweep.js";
import { type ConnectionProviders, connectionLimits, type Discovered } from "./connection-providers.js";
import {
  connectionInfo,
  connectionKind,
  factsOf,
  readFacts,
  readSettings,
  secretOf,
  settingsText,
} from "./stored-connection.js";

/** Operations of an administrator on the connections of an installation. */
export interface ConnectionApi {
  /** Lists those of the configuration first, then those that were added, oldest first. */
  list(): Promise<ConnectionsResponse>;
  /** Rejects with the provider's refusal, and stores nothing, if it cannot be used. */
  add(request: AddConnectionRequest): Promise<ConnectionInfo>;
  change(name: string, change: ChangeConnectionRequest): Promise<ConnectionInfo>;
  /** Returns false if there was none. */
  remove(name: string): Promise<boolean>;
  /** Requests the models from a provider, with these settings or with those of a connection. */
  test(settings: ConnectionSettings | string): Promise<TestConnectionResponse>;
}

/** The connections of a node: a connection added on any node is available on all of them. */
export interface ModelConnections extends ConnectionApi {
  /** All models of the node. */
  readonly catalog: ModelCatalog;
  /** Returns stored connections that cannot be used. */
  problems(): readonly { readonly name: string; readonly problem: string }[];
  /** Returns the names of stored connections, usable or not. */
  stored(): readonly string[];
  /** Returns true while only the built-in models are available. */
  isBuiltInOnly(): boolean;
  /** Stops checking for changes of other nodes. */
  close(): void;
}

/** A connection that cannot be changed while the node runs. */
export interface ConfiguredConnection {
  readonly info: ConnectionInfo;
  readonly bindings: readonly ModelBinding[];
  /** Requests the models from its provider. Absent if there is no provider to call. */
  discover?(): Promise<Discovered>;
}

/** Options of the connections of a node. */
export interface ConnectionOptions {
  readonly secrets: Secrets;
  readonly providers: ConnectionProviders;
  /** Those of the configuration. Their names win. */
  readonly configured: readonly ConfiguredConnection[];
  /** Location of the configuration, for people: shown to a user that wants to change it here. */
  readonly configuredIn?: string;
  /** Used while there is no other. */
  readonly builtIn?: ConfiguredConnection;
  /** The model that is used if none is named. Default: the first one. */
  readonly defaultModel?: string;
  readonly wake?: Wake;
  readonly clock?: Clock;
  /** Interval at which other nodes' changes are checked without a wake-up; 0: never. */
  readonly pollMs?: number;
  onError?(error: ParleyError): void;
}

/** A stored connection, as this node has it. */
interface Loaded {
  readonly record: SecretRecord;
  readonly bindings: readonly ModelBinding[];
  readonly problem?: string;
}

/**
 * Opens the connections of a node. Resolves when the stored ones are loaded, which calls no provider; one that cannot
 * be read is reported as a problem. They are loaded again when another node has changed them.
 */
export async function openModelConnections(options: ConnectionOptions): Promise<ModelConnections> {
  const connections = new StoredConnections(options);
  await connections.start();
  return connections;
}

const nameForm = /^[A-Za-z0-9._-]{1,64}$/;

class StoredConnections implements ModelConnections {
  readonly #options: ConnectionOptions;
  readonly #clock: Clock;
  readonly #catalog = createModelCatalog([]);
  readonly #poll: Sweep;
  #stopListening: () => void = () => {};
  #loaded: ReadonlyMap<string, Loaded> = new Map();
  #isLoaded = false;
  #loading: Promise<void> = Promise.resolve();

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#poll = new Sweep(
      { clock: this.#clock, report: (error) => options.onError?.(toParleyError(error)) },
      {
        where: "connections",
        everyMs: options.pollMs ?? connectionLimits.pollMs,
        atStart: false,
        run: () => this.#load(),
      },
    );
  }

  get catalog(): ModelCatalog {
    return this.#catalog;
  }

  async start(): Promise<void> {
    await this.#load();
    this.#stopListening =
      this.#options.wake?.listen((_, kind) => {
        if (kind === "models") this.#load().catch((error) => this.#options.onError?.(toParleyError(error)));
      }) ?? this.#stopListening;
    if (this.#options.pollMs !== 0) this.#poll.start();
  }

  close(): void {
    this.#stopListening();
    void this.#poll.stop();
  }

  problems(): { name: string; problem: string }[] {
    return [...this.#loaded.values()].flatMap(({ record: { name }, problem }) =>
      problem === undefined ? [] : [{ name, problem }],
    );
  }

  stored(): string[] {
    return [...this.#loaded.keys()];
  }

  isBuiltInOnly(): boolean {
    return this.#options.configured.length === 0 && this.#loaded.size === 0;
  }

  async list(): Promise<ConnectionsResponse> {
    const { configured, builtIn, providers, secrets } = this.#options;
    await this.#load();
    const fixed = this.isBuiltInOnly() && builtIn !== undefined ? [builtIn] : configured;
    return {
      connections: [
        ...fixed.map(({ info }) => info),
        ...[...this.#loaded.values()].map(({ record, problem }) => connectionInfo(record, problem)),
      ],
      kinds: providers.kinds,
      ...omitUndefined({ cannotAdd: await secrets.problem() }),
    };
  }

  async add(request: AddConnectionRequest): Promise<ConnectionInfo> {
    const { secrets } = this.#options;
    const { name = request.kind, models: named } = request;
    const settings = this.#checked(request);
    this.#checkName(name);
    const problem = await secrets.problem();
    if (problem !== undefined) {
      throw new ParleyError("store_unavailable", problem, {
        retryable: false,
        details: { reason: "no_secret" },
      });
    }
    const known = await secrets.list({ kind: connectionKind });
    if (known.length >= connectionLimits.connections) {
      throw new ParleyError(
        "limit_exceeded",
        `There may be at most ${connectionLimits.connections} connections: remove one first`,
        {
          retryable: false,
        },
      );
    }
    if (known.some((each) => each.name === name)) throw taken(name);
    const models = await this.#modelsOf(settings, named);
    const facts = factsOf(settings, models, named !== undefined);
    const value = settingsText(settings);
    const version = await secrets.put({ ...secretOf(name), value, facts: { ...facts }, replaces: null });
    if (version === null) throw taken(name);
    await this.#changed();
    return this.#infoOf(name);
  }

  async change(name: string, change: ChangeConnectionRequest): Promise<ConnectionInfo> {
    const { secrets } = this.#options;
    const secret = await this.#secretOf(name);
    const { name: newName = name, apiKey, baseUrl, models: named } = change;
    if (newName !== name) this.#checkName(newName);
    const before = readSettings(secret.value);
    if (
      baseUrl !== undefined &&
      baseUrl !== before.baseUrl &&
      apiKey === undefined &&
      before.apiKey !== undefined
    ) {
      // A user that may enter keys may not read them, not even by sending one to an address of their own.
      throw invalidField("apiKey", "a new address needs the key again");
    }
    const settings = this.#checked({ ...before, ...omitUndefined({ apiKey, baseUrl }) });
    const known = readFacts(secret);
    const chosen = named === undefined ? known.chosen : named !== null;
    const isNew = apiKey !== undefined || baseUrl !== undefined || named !== undefined;
    const wanted = named ?? (chosen ? known.models.map((model) => model.name) : undefined);
    const models = isNew ? await this.#modelsOf(settings, wanted) : known.models;
    const version = await secrets.put({
      ...secretOf(name),
      value: settingsText(settings),
      facts: { ...factsOf(settings, models, chosen) },
      replaces: secret.version,
      newName,
    });
    if (version === null) {
      const now = await secrets.list({ kind: connectionKind });
      if (newName !== name && now.some((each) => each.name === newName)) throw taken(newName);
      throw invalidField("name", `the connection "${name}" was changed by somebody else; look at it again`);
    }
    await this.#changed();
    return this.#infoOf(newName);
  }

  async remove(name: string): Promise<boolean> {
    this.#refuseConfigured(name);
    const removed = await this.#options.secrets.remove(secretOf(name));
    await this.#changed();
    return removed;
  }

  async test(given: ConnectionSettings | string): Promise<TestConnectionResponse> {
    const startedAt = this.#clock.monotonic();
    const discovered =
      typeof given === "string" ? await this.#testStored(given) : await this.#discover(given);
    const durationMs = Math.round(this.#clock.monotonic() - startedAt);
    return "problem" in discovered
      ? { ok: false, error: discovered.problem, durationMs }
      : { ok: true, models: bounded(discovered.models), durationMs };
  }

  /**
   * Tests a stored connection. It has the models that the provider lists now from then on, unless its models were
   * chosen.
   */
  async #testStored(name: string): Promise<Discovered> {
    const { configured, builtIn, secrets } = this.#options;
    const fixed = [...configured, ...(builtIn === undefined ? [] : [builtIn])].find(
      ({ info }) => info.name === name,
    );
    if (fixed !== undefined) return (await fixed.discover?.()) ?? { models: fixed.info.models };
    const secret = await this.#secretOf(name);
    const settings = readSettings(secret.value);
    const discovered = await this.#discover(settings);
    const known = readFacts(secret);
    if ("problem" in discovered || known.chosen) return discovered;
    const facts = factsOf(settings, discovered.models, false);
    if (JSON.stringify(facts.models) !== JSON.stringify(known.models)) {
      const { value, version } = secret;
      await secrets.put({ ...secretOf(name), value, facts: { ...facts }, replaces: version });
      await this.#changed();
    }
    return discovered;
  }

  #discover(settings: ConnectionSettings): Promise<Discovered> {
    return this.#options.providers.discover(this.#checked(settings));
  }

  /** Returns the named models, with the provider's data about them, otherwise all that it lists. */
  async #modelsOf(
    settings: ConnectionSettings,
    named: readonly string[] | undefined,
  ): Promise<readonly ConnectionModel[]> {
    const discovered = await this.#discover(settings);
    if ("problem" in discovered) {
      // A provider that does not list its models may still serve those that are named.
      if (named === undefined || discovered.code !== "provider_rejected") {
        throw new ParleyError(discovered.code, discovered.problem, { retryable: false });
      }
      return named.map((name) => ({ name }));
    }
    if (named === undefined) return discovered.models;
    const listed = new Map(discovered.models.map((model) => [model.name, model]));
    return named.map((name) => listed.get(name) ?? { name });
  }

  #checked({ kind, baseUrl, apiKey }: ConnectionSettings): ConnectionSettings {
    const { kinds } = this.#options.providers;
    const known = kinds.find((each) => each.kind === kind);
    if (known === undefined) {
      throw invalidField(
        "kind",
        `"${kind}" is not known; there is ${kinds.map((each) => each.kind).join(", ")}`,
      );
    }
    const settings = {
      kind,
      ...omitUndefined({ baseUrl: baseUrl?.trim() || undefined, apiKey: apiKey?.trim() || undefined }),
    };
    if (known.key === "required" && settings.apiKey === undefined) throw invalidField("apiKey", "is missing");
    if (known.baseUrl === "required" && settings.baseUrl === undefined)
      throw invalidField("baseUrl", "is missing");
    this.#options.providers.check(settings);
    return settings;
  }

  #checkName(name: string): void {
    this.#refuseConfigured(name);
    if (!nameForm.test(name)) throw invalidField("name", "has 1 to 64 letters, digits and . _ -");
  }

  #refuseConfigured(name: string): void {
    const { configured, configuredIn = "the configuration" } = this.#options;
    if (!configured.some(({ info }) => info.name === name)) return;
    throw new ParleyError(
      "invalid_request",
      `name: "${name}" is set in ${configuredIn}, which wins. Change it there`,
      {
        details: { field: "name", reason: "configured" },
      },
    );
  }

  async #secretOf(name: string): Promise<OpenedSecret> {
    this.#refuseConfigured(name);
    const secret = await this.#options.secrets.get(secretOf(name));
    if (secret === null) throw unknown();
    return secret;
  }

  #infoOf(name: string): ConnectionInfo {
    const loaded = this.#loaded.get(name);
    if (loaded === undefined) throw unknown();
    return connectionInfo(loaded.record, loaded.problem);
  }

  async #changed(): Promise<void> {
    await this.#load();
    this.#options.wake?.notify([0], "models");
  }

  /** Loads one after the other, so that the last loaded state is the last read one. */
  #load(): Promise<void> {
    const loading = this.#loading.then(() => this.#loadNow());
    this.#loading = loading.catch(() => undefined);
    return loading;
  }

  async #loadNow(): Promise<void> {
    const { secrets, configured, builtIn, defaultModel } = this.#options;
    const records = await secrets.list({ kind: connectionKind });
    const changed =
      records.length !== this.#loaded.size ||
      records.some(({ name, version }) => this.#loaded.get(name)?.record.version !== version);
    if (this.#isLoaded && !changed) return;
    const loaded = new Map<string, Loaded>();
    for (const record of records.sort((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1))) {
      const known = this.#loaded.get(record.name);
      const isKnown = known?.record.version === record.version;
      const found = isKnown ? known : await this.#read(record);
      if (found !== undefined) loaded.set(record.name, found);
    }
    this.#loaded = loaded;
    this.#isLoaded = true;
    const fixed = this.isBuiltInOnly() && builtIn !== undefined ? [builtIn] : configured;
    const bindings = [...fixed, ...loaded.values()].flatMap((each) => each.bindings);
    this.#catalog.replace(bindings, omitUndefined({ defaultModel }));
  }

  /**
   * Returns a connection with its models bound. One that cannot be used has a problem; the others are not affected.
   */
  async #read(record: SecretRecord): Promise<Loaded | undefined> {
    const { secrets, providers, configured } = this.#options;
    if (configured.some(({ info }) => info.name === record.name)) {
      return { record, bindings: [], problem: "the configuration has a connection of this name, which wins" };
    }
    try {
      const secret = await secrets.get(secretOf(record.name));
      if (secret === null) return undefined;
      const { value, ...read } = secret;
      const settings = readSettings(value);
      providers.check(settings);
      return { record: read, bindings: await providers.bind(record.name, settings, readFacts(read).models) };
    } catch (error) {
      if (isParleyError(error) && error.retryable) throw error;
      return { record, bindings: [], problem: toParleyError(error).message };
    }
  }
}

function bounded(models: readonly ConnectionModel[]): ConnectionModel[] {
  return models.slice(0, connectionLimits.models);
}

function unknown(): ParleyError {
  return new ParleyError("conversation_not_found", "No such connection");
}

function taken(name: string): ParleyError {
  return invalidField(
    "name",
    `there is a connection "${name}" already; choose another name, or change that one`,
  );
}
