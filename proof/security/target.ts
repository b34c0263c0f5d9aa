import { systemClock, type Tool } from "@parley/core";
import type { KeyStore, LogStoreRoot, ProviderCallParams, Wake } from "@parley/core/ports";
import {
  createModelCatalog,
  createRuntime,
  type ModelBinding,
  type Runtime,
  type RuntimeHooks,
  type RuntimeLimits,
} from "@parley/core/runtime";
import {
  createKey,
  createLogger,
  createTelemetryHooks,
  type RunningServer,
  type ServeOptions,
  serve,
} from "@parley/server";
import { openEmbedded } from "@parley/store/embedded";
import { openShards, type ShardOptions, type ShardSet } from "@parley/store/postgres";
import {
  createFaultyStore,
  createMemoryLogStore,
  createMemoryWake,
  createRecordingWebhooks,
  createScriptedProvider,
  type Gate,
  gate,
  pause,
  type Script,
  type StoreFaults,
  text,
  toolCall,
  usage,
} from "@parley/testing";
import type { KeyScope } from "@parley/wire";
import {
  openTestSocket,
  type SocketOptions,
  type TestSocket,
} from "../../packages/server/src/test-server.test-support.js";
import { type RawAnswer, type RawCall, rawCall } from "./raw-call.js";

export interface TargetOptions {
  /** A folder for an embedded store. Without one, and without shards, the log is in memory. */
  readonly folder?: string;
  /** Shards that the log is divided into. */
  readonly shards?: readonly ShardOptions[];
  readonly serve?: ServeOptions;
  readonly limits?: Partial<RuntimeLimits>;
  readonly tools?: readonly Tool<never>[];
  /** Beside the scripted ones. */
  readonly models?: readonly ModelBinding[];
  readonly instructions?: string;
  /** Replaces the keys and logins that the server sees. */
  readonly keys?: (keys: KeyStore) => KeyStore;
  /** Replaces the store on shards. */
  readonly weakenShards?: (store: LogStoreRoot, set: ShardSet) => LogStoreRoot;
  /** Replaces the runtime that the server serves. */
  readonly weaken?: (runtime: Runtime) => Runtime;
  /** Receives every event as an application's hook does, with the logger at hand. */
  readonly onEvent?: (event: unknown, log: (line: object) => void) => void;
}

/** A real server to be attacked, on a port of this machine. */
export interface Target {
  readonly url: string;
  readonly runtime: Runtime;
  readonly server: RunningServer;
  /** Only of a target in memory. */
  readonly faults: StoreFaults | undefined;
  /** Answers to a message that begins with "wait" continue when this is opened. */
  readonly gate: Gate;
  /** Every line of the log, at its most verbose level. */
  readonly logs: readonly string[];
  /** Creates a key and returns its secret. */
  key(owner: string, scopes?: readonly KeyScope[]): Promise<string>;
  call(call: RawCall): Promise<RawAnswer>;
  socket(options?: SocketOptions): Promise<TestSocket>;
  close(): Promise<void>;
}

/** The rate of requests must not hold off an attack, except where the rate itself is tested. */
const generous = { requestsPerSecond: 100_000, requestBurst: 100_000, failedLogins: 100_000 };

/** Opens a server, which the caller closes. */
export async function openTarget(options: TargetOptions = {}): Promise<Target> {
  const at = gate();
  const logs: string[] = [];
  const logger = createLogger({ level: "trace" }, { write: (line) => void logs.push(line) });
  const { store, wake, faults, closeStore } = await openStore(options);
  const telemetry = createTelemetryHooks({ processFigures: false });
  const provider = createScriptedProvider((params) => answerTo(params, at));
  const model = { provider, providerName: "scripted", contextWindow: 100_000 };
  const onEvent: RuntimeHooks["onEvent"] = (event, context) => {
    telemetry.onEvent(event, context);
    options.onEvent?.(event, (line) => logger.info(line));
  };
  const runtime = await createRuntime({
    store,
    wake,
    models: createModelCatalog([
      { ...model, name: "scripted/one", model: "one" },
      { ...model, name: "scripted/two", model: "two" },
      ...(options.models ?? []),
    ]),
    // An endpoint that fails each time: reports about it must not contain its address.
    webhooks: {
      transport: createRecordingWebhooks({ answer: () => ({ status: 500 }), delayMs: 50 }).transport,
      limits: { attempts: 2 },
    },
    hooks: {
      onEvent,
      onWebhookAttempt(attempt) {
        telemetry.onWebhookAttempt(attempt);
        logger.info({ ...attempt }, "a webhook was tried");
      },
      onError: (error, { where, conversationId }) =>
        logger.warn({ where, code: error.code, conversationId }, "something failed in the background"),
    },
    ...(options.tools === undefined ? {} : { tools: options.tools }),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
  });
  const { limits, ...rest } = options.serve ?? {};
  const weakened = options.weaken?.(runtime) ?? runtime;
  const served = options.keys === undefined ? weakened : { ...weakened, keys: options.keys(runtime.keys) };
  const server = await serve(served, {
    port: 0,
    auth: "keys",
    pace: { keyMs: 0 },
    telemetry,
    logger,
    ...rest,
    limits: { ...generous, ...limits },
  });
  const sockets: TestSocket[] = [];
  return {
    url: server.url,
    runtime,
    server,
    faults,
    gate: at,
    logs,
    async key(owner, scopes) {
      const { secret, record } = createKey({ owner, ...(scopes === undefined ? {} : { scopes }) });
      await runtime.keys.add(record);
      return secret;
    },
    call: (call) => rawCall(server.url, call),
    async socket(socketOptions) {
      const socket = await openTestSocket(server.url, socketOptions);
      sockets.push(socket);
      return socket;
    },
    async close() {
      faults?.heal();
      at.open();
      for (const socket of sockets) socket.raw.terminate();
      await server.close({ deadlineMs: 0 });
      await runtime.close();
      await closeStore();
    },
  };
}

interface OpenedStore {
  readonly store: LogStoreRoot;
  readonly wake: Wake;
  readonly faults: StoreFaults | undefined;
  closeStore(): Promise<void>;
}

async function openStore({ folder, shards, weakenShards }: TargetOptions): Promise<OpenedStore> {
  if (shards !== undefined) {
    const { store: whole, wake, set } = openShards({ shards });
    await whole.migrate();
    const store = weakenShards?.(whole, set) ?? whole;
    const closeStore = async () => {
      await wake.close?.();
      await store.close();
    };
    return { store, wake, faults: undefined, closeStore };
  }
  if (folder === undefined) {
    const { store, faults } = createFaultyStore(createMemoryLogStore({ clock: systemClock }));
    return { store, wake: createMemoryWake(), faults, closeStore: async () => undefined };
  }
  const { store, wake } = await openEmbedded({ folder, durable: false });
  return { store, wake, faults: undefined, closeStore: () => store.close() };
}

/** A call that a message makes the model do. */
export interface WantedCall {
  readonly tool: string;
  readonly input: unknown;
}

const callsWord = "call ";

/** Returns a message that makes the model call these tools, side by side. */
export function callTools(calls: readonly WantedCall[]): string {
  return `${callsWord}${JSON.stringify(calls)}`;
}

/** Calls the tools that a message names; waits at the gate when the message asks to; else repeats the message. */
function answerTo({ messages }: ProviderCallParams, at: Gate): Script {
  const last = messages.at(-1);
  if (last?.role === "tool") return [text("The tools have answered."), usage(30, 5)];
  const part = last?.content.at(-1);
  const said = part?.type === "text" ? String(part.text) : "";
  if (said.startsWith(callsWord)) {
    const calls = JSON.parse(said.slice(callsWord.length)) as WantedCall[];
    return [...calls.map(({ tool, input }) => toolCall(tool, input)), usage(20, 8)];
  }
  const answer = [text(`You said: ${said}`, { size: 20 }), usage(20, 8)];
  return said.startsWith("wait") ? [text("One moment. "), pause(at), ...answer] : answer;
}
