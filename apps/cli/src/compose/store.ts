import { relative } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isParleyError, type ParleyError } from "@parley/core/errors";
import type { LogStoreRoot, Wake } from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import type { EmbeddedEngine, OpenedEmbedded } from "@parley/store/embedded";
import type { MigrationProgress, ShardSet } from "@parley/store/postgres";
import { CliError } from "../cli-error.js";
import type { StoreConfig } from "../config/config.js";

/** A store in a folder. */
export type FolderConfig = Extract<StoreConfig, { kind: "folder" }>;

/** An open store, and how nodes on it wake each other. */
export interface ComposedStore {
  readonly store: LogStoreRoot;
  readonly wake: Wake;
  /** True if other processes may have it open, too. */
  readonly isShared: boolean;
  /** The database inside of an embedded store. */
  readonly engine?: ChosenEngine;
  /** The shards that it is divided into. */
  readonly shards?: ShardSet;
  close(): Promise<void>;
}

/** The database inside of an embedded store, and why it is PGlite, where it is. */
export interface ChosenEngine {
  readonly engine: EmbeddedEngine;
  readonly reason?: string;
}

/** Callbacks for events while a store is opened. */
export interface OpenListener {
  /** Called before a new folder is made, which takes seconds. */
  onCreate?(): void;
  /** Called once when another process has the folder, before the wait for it. */
  onBusy?(error: ParleyError): void;
  /** Asked while another process has the folder; true ends the wait. */
  isServed?(): Promise<boolean>;
  /** Called while the rows of an older version are copied, which the first start of this version waits for. */
  onMigration?(progress: MigrationProgress): void;
  /** Called for shards whose server does not answer. Absent: that is a failure. */
  onAway?(shards: readonly string[], error: ParleyError): void;
}

/** Time to wait for an embedded store that another process holds: most calls take a second or two. */
const busyMs = { limit: 5_000, between: 100 };

/** Opens the store with its schema brought up. */
export async function openStore(config: StoreConfig, options: OpenListener = {}): Promise<ComposedStore> {
  const { s3 } = config;
  if (s3 === undefined) return openDatabase(config, options);
  const { openS3, withObjectPlace } = await import("@parley/store/objects");
  const place = withSettings(() => openS3(s3));
  const opened = await openDatabase(config, options);
  return { ...opened, store: withObjectPlace(opened.store, place) };
}

/** States which setting of the bucket is wrong. */
function withSettings<Opened>(open: () => Opened): Opened {
  try {
    return open();
  } catch (error) {
    if (!isParleyError(error) || error.details?.field === undefined) throw error;
    throw new CliError(`store.s3.${error.message}.`, { cause: error });
  }
}

async function openDatabase(config: StoreConfig, options: OpenListener): Promise<ComposedStore> {
  if (config.kind === "folder") {
    const { store, wake, engine, reason } = await openFolder(config, options);
    return {
      store,
      wake,
      isShared: engine === "postgres",
      engine: { engine, ...omitUndefined({ reason }) },
      close: () => store.close(),
    };
  }
  const { kind: _, s3: _s3, shards: listed, schemas, ...settings } = config;
  const { numberedShards, openPostgres, openShards } = await import("@parley/store/postgres");
  const onMigration = omitUndefined({ onMigration: options.onMigration });
  const onAway = omitUndefined({ onAway: options.onAway });
  const shards = listed ?? (schemas === undefined ? undefined : numberedShards({ ...settings, schemas }));
  const { store, wake, set } = withAddress(() =>
    shards === undefined
      ? { ...openPostgres({ ...settings, ...onMigration }), set: undefined }
      : openShards({ ...settings, ...onMigration, ...onAway, shards }),
  );
  const close = async () => {
    await wake.close?.();
    await store.close();
  };
  try {
    await store.migrate();
  } catch (error) {
    await close();
    // Of several servers the error itself names the shard, where it knows it.
    if (listed !== undefined && listed.length > 1) throw error;
    throw (
      lacking(error, config.url) ??
      pooled(error, config.url) ??
      unreachable(error, config.url) ??
      refused(error, config.url) ??
      error
    );
  }
  return { store, wake, isShared: true, close, ...omitUndefined({ shards: set }) };
}

async function openFolder(config: FolderConfig, listener: OpenListener): Promise<OpenedEmbedded> {
  const { folder, durable, schema, engine } = config;
  const { onMigration } = listener;
  const { engineOf, openEmbedded } = await import("@parley/store/embedded");
  if (engineOf(folder) === undefined) listener.onCreate?.();
  const end = performance.now() + busyMs.limit;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await openEmbedded({ folder, durable, ...omitUndefined({ schema, onMigration, engine }) });
    } catch (error) {
      if (!isBusy(error) || performance.now() >= end || (await listener.isServed?.())) throw error;
      if (attempt === 0) listener.onBusy?.(error);
    }
    await delay(busyMs.between);
  }
}

/** Returns whether a store was refused because another process has its folder. */
export function isBusy(error: unknown): error is ParleyError {
  return isParleyError(error) && error.code === "store_unavailable" && error.details?.folder !== undefined;
}

/** Opens what an address leads to. */
function withAddress<Opened>(open: () => Opened): Opened {
  try {
    return open();
  } catch (error) {
    if (!isParleyError(error) || error.details?.field === undefined) throw error;
    throw new CliError("The address of the store is not that of a PostgreSQL server.", {
      advice: "It has the form postgres://user@host:5432/database, with one host.",
      cause: error,
    });
  }
}

/** Returns the place of the store, as shown to the user: of a server the address without its password. */
export function describeStore(config: StoreConfig): string {
  if (config.kind === "folder") {
    const short = relative(process.cwd(), config.folder);
    return `${short === "" || short.startsWith("..") ? config.folder : short} (embedded)`;
  }
  const others = (config.shards?.length ?? config.schemas ?? 1) - 1;
  return `${redactedUrl(config.url)}${others > 0 ? ` and ${others} more ${others === 1 ? "shard" : "shards"}` : ""}`;
}

/** The database inside of an embedded store, for people. */
export function describeEngine({ engine, reason }: ChosenEngine): string {
  return engine === "postgres" ? "private PostgreSQL" : `PGlite${reason === undefined ? "" : `: ${reason}`}`;
}

/** A server with which no word was exchanged: which one, why, and what to check. Any other failure speaks for itself. */
function unreachable(error: unknown, url: string): CliError | undefined {
  if (!isParleyError(error) || error.code !== "store_unavailable") return undefined;
  if ((error.details?.sqlState ?? error.details?.reason) !== undefined) return undefined;
  const { cause } = error;
  const code: unknown = typeof cause === "object" && cause !== null ? Reflect.get(cause, "code") : undefined;
  const why = typeof code === "string" && /^E[A-Z_]+$/.test(code) ? ` (${code})` : "";
  const nameless = code === "ENOTFOUND" || code === "EAI_AGAIN";
  return new CliError(`${serverOf(url)} cannot be reached${why}.`, {
    advice: nameless
      ? "No address is known for this name: check the host in the address of the store."
      : "Check that it runs, and host and port in the address of the store.",
    cause: error,
  });
}

/** A role that may not create what a migration creates. */
function lacking(error: unknown, url: string): CliError | undefined {
  if (!isParleyError(error) || error.details?.reason !== "missing_right") return undefined;
  return new CliError(`${serverOf(url)} does not let this user create Parley's tables.`, {
    advice: error.message,
    cause: error,
  });
}

/** A pooler that the configuration does not mention. */
function pooled(error: unknown, url: string): CliError | undefined {
  if (!isParleyError(error) || error.details?.setting !== "transactionPooler") return undefined;
  return new CliError(
    `${serverOf(url)} is behind a connection pooler, and the configuration does not say so.`,
    {
      advice: error.message,
      cause: error,
    },
  );
}

/** Explains why a PostgreSQL server refused the connection: database, user or password. */
function refused(error: unknown, url: string): CliError | undefined {
  if (!isParleyError(error)) return undefined;
  const state = error.details?.sqlState;
  if (state === "3D000") {
    return new CliError(`${serverOf(url)} has no such database.`, {
      advice: "Create the database, or check its name in the address of the store.",
      cause: error,
    });
  }
  if (state !== "28P01" && state !== "28000") return undefined;
  return new CliError(`${serverOf(url)} refuses the user or the password.`, {
    advice:
      "Check user and password in the address of the store, and whether that user may come from this machine.",
    cause: error,
  });
}

/** A PostgreSQL server by host and port alone. */
function serverOf(text: string): string {
  const { hostname, port, searchParams } = URL.canParse(text) ? new URL(text) : new URL("postgres:");
  const host = searchParams.get("host") ?? decodeURIComponent(hostname);
  if (host === "") return "The configured PostgreSQL server";
  return `The PostgreSQL server at ${host}:${searchParams.get("port") ?? (port || "5432")}`;
}

/** An address without user's password and without parameters, which may hold one too. */
function redactedUrl(text: string): string {
  if (!URL.canParse(text)) return "the configured PostgreSQL server";
  const url = new URL(text);
  const user = url.username === "" ? "" : `${url.username}@`;
  return `${url.protocol}//${user}${url.host}${url.pathname}`;
}
