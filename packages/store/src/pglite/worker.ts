// The thread in which PGlite runs: its queries are synchronous and would stall the server's loop.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { ParleyError } from "@parley/core/errors";
import type { LogStoreRoot } from "@parley/core/ports";
import type { Statement } from "../database.js";
import { checkSpace, diskFull, freeSpace, reservedBytes } from "../folder/disk-space.js";
import { schemaText } from "../in-schema.js";
import type { MigrationProgress } from "../migration/migrations.js";
import { openLogStore } from "../open-log-store.js";
import { PostgresMemoryStore } from "../postgres-memory-store.js";
import { type Answer, type Call, openId, type ThreadMessage, toFailure } from "./call.js";
import { DurableNodeFS, startParams } from "./durable-node-fs.js";
import { PgliteDatabase } from "./pglite-database.js";
import { keyPrefix, memoryPrefix, outboxPrefix, secretPrefix, verbOf } from "./verbs.js";

/** Options that the opener passes to the thread. */
export interface WorkerOptions {
  readonly folder: string;
  /** The schema of the database that holds the tables. */
  readonly schema: string;
  /** True if a commit waits for the disk. */
  readonly durable: boolean;
  /** Interval between vacuums while the database is written to. */
  readonly vacuumMs: number;
  /** One 32-bit number that grows with every finished statement and file operation. */
  readonly progress: SharedArrayBuffer;
}

/**
 * Interval between checks of the write-ahead log's length, and the number of 16 MiB segments that require a checkpoint.
 */
const checkpointMs = 5_000;
const longLog = 6;

const port = parentPort;
if (port === null) throw new Error("this module runs in a worker thread");
const send = (message: ThreadMessage) => port.postMessage(message);
const { folder, schema, durable, vacuumMs, progress } = workerData as WorkerOptions;
const counter = new Int32Array(progress);
const onProgress = () => {
  Atomics.add(counter, 0, 1);
};

let isBroken = false;
/** Reports at once that this thread cannot be used any more: PGlite may spin forever right after it. */
function onBroken(failure: ParleyError): void {
  if (isBroken) return;
  isBroken = true;
  send({ broken: toFailure(failure) });
}

function onDiskFailure(cause: NodeJS.ErrnoException): void {
  const { code } = cause;
  if (code === "ENOSPC" || code === "EDQUOT") {
    onBroken(diskFull({ freeBytes: freeSpace(folder), neededBytes: reservedBytes.open, cause }));
    return;
  }
  onBroken(
    new ParleyError("store_unavailable", `The disk of the embedded store cannot be written (${code})`, {
      cause,
    }),
  );
}

try {
  const pglite = await PGlite.create({
    fs: new DurableNodeFS(folder, { onOperation: onProgress, onDiskFailure }),
    startParams: startParams({ durable }),
  });
  const database = new PgliteDatabase(pglite, { onStatement: onProgress, onBroken });
  const onMigration = (migrating: MigrationProgress) => send({ migrating });
  const root = openLogStore(database, { schema, onMigration });
  let written = false;
  /** Runs a maintenance statement if there is space for what it writes. */
  const tidy = async (statement: string) => {
    checkSpace(folder, "running");
    await pglite.exec(statement);
  };
  const vacuum = setInterval(() => {
    if (!written) return;
    written = false;
    tidy("VACUUM (ANALYZE)").catch(() => {
      written = true;
    });
  }, vacuumMs);
  vacuum.unref();
  // PostgreSQL leaves this to a process that PGlite does not have.
  const checkpoint = setInterval(() => {
    if (logLength() >= longLog) tidy("CHECKPOINT").catch(() => undefined);
  }, checkpointMs);
  checkpoint.unref();

  port.on("message", (call: Call) => {
    written ||= verbOf(call.method).writes !== "nothing";
    answer(root, database, call).then((message) => {
      onProgress();
      send(message);
      if (call.method !== "close") return;
      clearInterval(vacuum);
      clearInterval(checkpoint);
      port.close();
    });
  });
  send({ id: openId, value: undefined });
} catch (error) {
  send({ id: openId, failure: toFailure(error) });
  port.close();
}

async function answer(root: LogStoreRoot, database: PgliteDatabase, call: Call): Promise<Answer> {
  const { id, method, values } = call;
  try {
    const { writes } = verbOf(method);
    if (writes !== "nothing") checkSpace(folder, writes, values);
    if (method === "forgetNodes") {
      await database.query({ text: schemaText("DELETE FROM parley.node", schema) });
      return { id, value: undefined };
    }
    if (method === "query") return { id, value: await database.query(values[0] as Statement) };
    const [target, name] = targetOf(root, database, call);
    return { id, value: await target[name]?.(...values) };
  } catch (error) {
    return { id, failure: toFailure(error) };
  }
}

/** Counts the segments of the write-ahead log. */
function logLength(): number {
  try {
    return readdirSync(join(folder, "pg_wal")).filter((name) => /^[0-9A-F]{24}$/.test(name)).length;
  } catch {
    return 0;
  }
}

type Methods = Record<string, (...values: unknown[]) => Promise<unknown>>;

/** Returns the object that has the method of a call, and the method's own name. */
function targetOf(root: LogStoreRoot, database: PgliteDatabase, { method, owner }: Call): [Methods, string] {
  const own = method.slice(method.lastIndexOf(".") + 1);
  let target: object = root;
  if (method.startsWith(keyPrefix)) target = root.keys;
  if (method.startsWith(outboxPrefix)) target = root.outbox;
  if (method.startsWith(secretPrefix)) target = root.secrets;
  if (owner !== undefined) {
    target = method.startsWith(memoryPrefix)
      ? new PostgresMemoryStore(database, { owner, schema })
      : root.forOwner(owner);
  }
  return [target as Methods, own];
}
