// The thread in which PGlite runs: its queries are synchronous and would stall the server's loop.
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import type { LogStoreRoot } from "@parley/core/ports";
import { openLogStore } from "../open-log-store.js";
import { PostgresMemoryStore } from "../postgres-memory-store.js";
import { type Answer, type Call, keyPrefix, memoryPrefix, toFailure } from "./call.js";
import { DurableNodeFS, durableStartParams } from "./durable-node-fs.js";
import { PgliteDatabase } from "./pglite-database.js";

/** What the opener tells the thread. */
export interface WorkerOptions {
  readonly folder: string;
  /** Whether a commit waits for the disk. */
  readonly durable: boolean;
  /** How often the database is tidied up while it is written to. */
  readonly vacuumMs: number;
}

/** The first message of the thread. */
export type Opened = { readonly opened: true } | { readonly failure: ReturnType<typeof toFailure> };

/** Methods that leave nothing to tidy up. */
const reads = /^(read|get$|list$|check$|keys\.(find|list)$|memory\.(get|list))/;

const port = parentPort;
if (port === null) throw new Error("this module runs in a worker thread");
const { folder, durable, vacuumMs } = workerData as WorkerOptions;

try {
  const pglite = await PGlite.create(
    durable ? { fs: new DurableNodeFS(folder), startParams: durableStartParams() } : { dataDir: folder },
  );
  const database = new PgliteDatabase(pglite);
  const root = openLogStore(database);
  let written = false;
  const vacuum = setInterval(() => {
    if (!written) return;
    written = false;
    pglite.exec("VACUUM (ANALYZE)").catch(() => {
      written = true;
    });
  }, vacuumMs);
  vacuum.unref();

  port.on("message", (call: Call) => {
    written ||= !reads.test(call.method);
    answer(root, database, call).then((message) => {
      port.postMessage(message);
      if (call.method !== "close") return;
      clearInterval(vacuum);
      port.close();
    });
  });
  port.postMessage({ opened: true } satisfies Opened);
} catch (error) {
  port.postMessage({ failure: toFailure(error) } satisfies Opened);
  port.close();
}

async function answer(root: LogStoreRoot, database: PgliteDatabase, call: Call): Promise<Answer> {
  try {
    if (call.method === "forgetNodes") {
      await database.query({ text: "DELETE FROM node" });
      return { id: call.id, value: undefined };
    }
    const [target, method] = targetOf(root, database, call);
    return { id: call.id, value: await target[method]?.(...call.values) };
  } catch (error) {
    return { id: call.id, failure: toFailure(error) };
  }
}

type Methods = Record<string, (...values: unknown[]) => Promise<unknown>>;

/** The object that has the method of a call, and the method's own name. */
function targetOf(root: LogStoreRoot, database: PgliteDatabase, { method, owner }: Call): [Methods, string] {
  const own = method.slice(method.lastIndexOf(".") + 1);
  let target: object = method.startsWith(keyPrefix) ? root.keys : root;
  if (owner !== undefined) {
    target = method.startsWith(memoryPrefix)
      ? new PostgresMemoryStore(database, { owner })
      : root.forOwner(owner);
  }
  return [target as Methods, own];
}
