import type { Worker } from "node:worker_threads";
import { ParleyError } from "@parley/core/errors";
import type { KeyStore, LogStore, LogStoreRoot, MemoryStore } from "@parley/core/ports";
import { type Answer, type Call, fromFailure, keyPrefix, memoryPrefix } from "./call.js";

const rootMethods = [
  "migrate",
  "heartbeat",
  "retire",
  "claimExpired",
  "flushJournal",
  "news",
  "check",
  "examine",
] as const satisfies readonly (keyof LogStoreRoot)[];

const ownerMethods = [
  "admit",
  "commitStep",
  "seal",
  "requestStop",
  "takeOver",
  "release",
  "lease",
  "endLease",
  "readChunks",
  "readNewest",
  "readOpenTurn",
  "queue",
  "fork",
  "compact",
  "undoCompaction",
  "create",
  "get",
  "list",
  "set",
  "readTurn",
  "findReceipt",
  "lastCall",
  "metrics",
  "changed",
  "importConversation",
  "search",
  "remove",
  "createConversation",
  "getConversation",
  "updateConversation",
  "listConversations",
  "appendMessages",
  "listMessages",
  "appendTurn",
  "listTurns",
] as const satisfies readonly (keyof LogStore)[];

const keyMethods = ["add", "list", "find", "touch", "remove"] as const satisfies readonly (keyof KeyStore)[];

const memoryMethods = [
  "listMessages",
  "saveMessages",
  "getThreadById",
  "saveThread",
] as const satisfies readonly (keyof MemoryStore)[];

// A method that is added to the port and forgotten here does not compile.
type Forgotten =
  | Exclude<keyof LogStoreRoot, (typeof rootMethods)[number] | "forOwner" | "keys" | "close">
  | Exclude<keyof LogStore, (typeof ownerMethods)[number]>
  | Exclude<keyof KeyStore, (typeof keyMethods)[number]>
  | Exclude<keyof MemoryStore, (typeof memoryMethods)[number]>;
const nothingForgotten: Forgotten extends never ? true : Forgotten = true;
void nothingForgotten;

/** Calls of the store, sent to its thread. One message there, one back, matched by number. */
export class Forwarder {
  readonly #worker: Worker;
  readonly #waiting = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: unknown) => void }
  >();
  #last = 0;
  #gone: ParleyError | undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (answer: Answer) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if ("failure" in answer) waiting?.reject(fromFailure(answer.failure));
      else waiting?.resolve(answer.value);
    });
    worker.on("error", (error) => this.#end("The embedded database has crashed", error));
    worker.on("exit", () => this.#end("The embedded database is closed"));
  }

  call(method: string, values: readonly unknown[], owner?: string): Promise<unknown> {
    if (this.#gone !== undefined) return Promise.reject(this.#gone);
    this.#last += 1;
    const call: Call = { id: this.#last, method, values, ...(owner === undefined ? {} : { owner }) };
    return new Promise((resolve, reject) => {
      this.#waiting.set(call.id, { resolve, reject });
      try {
        this.#worker.postMessage(call);
      } catch (error) {
        // What cannot be cloned cannot be stored either.
        this.#waiting.delete(call.id);
        reject(new ParleyError("invalid_request", "The value cannot be stored", { cause: error }));
      }
    });
  }

  #end(message: string, cause?: unknown): void {
    this.#gone ??= new ParleyError("store_unavailable", message, {
      retryable: false,
      ...(cause === undefined ? {} : { cause }),
    });
    for (const { reject } of this.#waiting.values()) reject(this.#gone);
    this.#waiting.clear();
  }
}

function forwarded(forwarder: Forwarder, names: readonly string[], owner?: string, prefix = ""): object {
  const methods = names.map((name): [string, unknown] => [
    name,
    (...values: unknown[]) => forwarder.call(`${prefix}${name}`, values, owner),
  ]);
  return Object.fromEntries(methods);
}

/** An owner's store of canonical messages as the main thread sees it. */
export function forwardedMemoryStore(forwarder: Forwarder, owner: string): MemoryStore {
  return forwarded(forwarder, memoryMethods, owner, memoryPrefix) as MemoryStore;
}

/** The store as the main thread sees it: the same port, every call forwarded. */
export function forwardedStore(forwarder: Forwarder, close: () => Promise<void>): LogStoreRoot {
  const owners = new Map<string, LogStore>();
  const methods = (names: readonly string[], owner?: string, prefix?: string) =>
    forwarded(forwarder, names, owner, prefix);
  return {
    ...(methods(rootMethods) as unknown as Pick<LogStoreRoot, (typeof rootMethods)[number]>),
    keys: methods(keyMethods, undefined, keyPrefix) as unknown as KeyStore,
    forOwner(owner) {
      let store = owners.get(owner);
      if (store === undefined) {
        store = methods(ownerMethods, owner) as unknown as LogStore;
        owners.set(owner, store);
      }
      return store;
    },
    close,
  };
}
