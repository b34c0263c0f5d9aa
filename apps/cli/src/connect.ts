import { createClient, type ParleyClient } from "@parley/client";
import type { ParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/fold";
import { CliError } from "./cli-error.js";
import type { LocalNode } from "./compose/node.js";
import { describeStore, isBusy } from "./compose/store.js";
import type { Config, ConfigFlags, Environment } from "./config/config.js";
import { loadConfig } from "./config/load-config.js";
import { findServer } from "./server-file.js";

/** A verb's connection to the conversations. */
export interface Connected {
  readonly client: ParleyClient;
  /** Sends a request of another protocol to a path of the same server, with the same key. */
  ask(path: string, init?: RequestInit): Promise<Response>;
  /** `server`: one is running. `here`: none is, so this process has opened the store. */
  readonly via: "server" | "here";
  /** The server or store, as shown to the user. */
  readonly place: string;
  /** The configuration, where it was needed. */
  readonly config?: Config;
  close(): Promise<void>;
}

/** Options that decide where the conversations are. */
export interface ConnectOptions extends ConfigFlags {
  readonly url?: string | undefined;
  readonly env?: Environment;
  /** Follow by WebSocket; otherwise by server-sent events, which need no further module. */
  readonly socket?: boolean;
  /** Open the store in this process, even where a server runs on it. */
  readonly direct?: boolean;
  /** Called with a description of what takes time. */
  onWait?(what: string): void;
}

/**
 * Finds the running server: the one that is named, else the one that serves this store. When there is none, the store
 * is opened in this process and asked through the same app, so that a verb cannot tell the difference.
 */
export async function connect(options: ConnectOptions): Promise<Connected> {
  const { env = process.env } = options;
  const found = options.direct
    ? { config: await loadConfig({ flags: options, env }) }
    : await locate(options);
  if ("url" in found) return toServer(found.url, options, found.config);
  const { config } = found;
  try {
    return await inProcess(config, options);
  } catch (error) {
    // Another process has the folder. It may be a server that was just starting when we looked.
    const late = isBusy(error) && !options.direct ? await findServer(config.store, env) : undefined;
    if (late !== undefined) return toServer(late, options, config);
    if (isBusy(error)) throw busyStore(error, config);
    throw error;
  }
}

/** Reaches the running server without opening a store. Resolves with the configuration where none runs. */
export async function connectToServer(
  options: ConnectOptions,
): Promise<Connected | { readonly config: Config; readonly via: "nothing" }> {
  const found = await locate(options);
  return "url" in found ? toServer(found.url, options, found.config) : { ...found, via: "nothing" };
}

async function locate(
  options: ConnectOptions,
): Promise<{ readonly url: string; readonly config?: Config } | { readonly config: Config }> {
  const { env = process.env } = options;
  const url = options.url ?? (env.PARLEY_URL === "" ? undefined : env.PARLEY_URL);
  if (url !== undefined) return { url: checkedUrl(url) };
  const config = await loadConfig({ flags: options, env });
  const running = await findServer(config.store, env);
  return running === undefined ? { config } : { url: running, config };
}

async function toServer(url: string, options: ConnectOptions, config?: Config): Promise<Connected> {
  const key = (options.env ?? process.env).PARLEY_API_KEY;
  const WebSocket = options.socket ? (await import("ws")).WebSocket : null;
  const client = createClient({
    url,
    WebSocket: WebSocket as never,
    ...(key === undefined || key === "" ? {} : { apiKey: key }),
  });
  return {
    client,
    ask(path, init) {
      const headers = new Headers(init?.headers);
      if (key !== undefined && key !== "") headers.set("authorization", `Bearer ${key}`);
      // The key is for this server, not for one that it names.
      return fetch(`${client.url}${path}`, { ...init, headers, redirect: "error" });
    },
    via: "server",
    place: url,
    ...omitUndefined({ config }),
    async close() {
      if (options.socket) client.connect().close();
    },
  };
}

async function inProcess(config: Config, options: ConnectOptions): Promise<Connected> {
  const [{ startNode }, { createApp }] = await Promise.all([
    import("./compose/node.js"),
    import("@parley/server"),
  ]);
  // A verb that ends with its answer would cut the request for a title short.
  const titleModel = config.titleModel ?? (options.socket ? undefined : "none");
  const node: LocalNode = await startNode(
    { ...config, ...omitUndefined({ titleModel }) },
    {
      onCreate: () => options.onWait?.(`Creating the store in ${describeStore(config.store)}, once.`),
      onAway: (_, { message }) => options.onWait?.(`${message}. Their owners wait until it answers.`),
      onBusy: ({ details }) =>
        options.onWait?.(
          `The store ${describeStore(config.store)} is in use by ${details?.pid === undefined ? "another process" : `process ${details.pid}`}; waiting for it ...`,
        ),
      isServed: async () => (await findServer(config.store, options.env)) !== undefined,
    },
  );
  // A process that can open the store needs no key to it, and slows down no other caller.
  const limits = { requestsPerSecond: 1e9, requestBurst: 1e9, importBytes: Number.MAX_SAFE_INTEGER };
  const app = createApp(node.runtime, { auth: "open", owner: config.owner, limits, telemetry: false });
  const ask: typeof fetch = async (input, init) => app.fetch(new Request(input, init));
  const client = createClient({ url: "http://127.0.0.1", fetch: ask, WebSocket: null });
  let closing: Promise<void> | undefined;
  const close = async () => {
    if (options.socket) client.connect().close();
    await app.close();
    await node.close();
  };
  return {
    client,
    ask: (path, init) => ask(`${client.url}${path}`, init),
    via: "here",
    place: describeStore(config.store),
    config,
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function busyStore(error: ParleyError, config: Config): CliError {
  const { pid, host } = error.details ?? {};
  const holder = pid === undefined ? "another process" : `process ${pid} on ${host}`;
  return new CliError(`The store ${describeStore(config.store)} is in use by ${holder}.`, {
    advice: "Wait until it is done, end it, or use another store with --store.",
    cause: error,
  });
}

function checkedUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new CliError(`"${text}" is not the address of a server.`, {
      advice: "Give it as http://127.0.0.1:4141, with --url or PARLEY_URL.",
      exitCode: 2,
    });
  }
  return text;
}
