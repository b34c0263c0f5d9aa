import { Worker } from "node:worker_threads";
import { ParleyError } from "@parley/core/errors";
import type { LogStoreRoot, MemoryStore, Wake } from "@parley/core/ports";
import { builtFile } from "./built-file.js";
import { fromFailure } from "./call.js";
import { createDatabaseFolder, databaseFolder } from "./create-folder.js";
import { lockFolder } from "./folder-lock.js";
import { Forwarder, forwardedMemoryStore, forwardedStore } from "./forward.js";
import { createLocalWake } from "./local-wake.js";
import type { Opened, WorkerOptions } from "./worker.js";

export { folderIdentity } from "./folder-identity.js";

/** Where the embedded database lies, and how careful it is. */
export interface PgliteOptions {
  /** Where everything lies. Made if it is not there. */
  readonly folder: string;
  /** Whether a commit waits for the disk, so that a power cut loses nothing that was acknowledged. Default true. */
  readonly durable?: boolean;
  /** How often the database is tidied up while it is written to. Default: every ten minutes. */
  readonly vacuumMs?: number;
}

/** The embedded store, and what belongs to it. */
export interface OpenedPglite {
  readonly store: LogStoreRoot;
  readonly wake: Wake;
  /** Makes an owner's store of canonical messages, over the same log. Closed with the store. */
  readonly memoryStore: (owner: string) => MemoryStore;
}

/**
 * Opens the embedded store, for one process. A second one is refused with an error that names the first. The schema is
 * brought up, and whatever turns a crash left open can be claimed at once: the folder's lock proves that nobody runs
 * them.
 */
export async function openPglite(options: PgliteOptions): Promise<OpenedPglite> {
  const { folder, durable = true, vacuumMs = 600_000 } = options;
  const lock = await lockFolder(folder);
  let end = async (): Promise<void> => {};
  try {
    await createDatabaseFolder(folder);
    const workerData: WorkerOptions = { folder: databaseFolder(folder), durable, vacuumMs };
    const worker = new Worker(builtFile("worker.js"), { workerData, execArgv: [] });
    const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    end = async () => {
      await worker.terminate();
      await exited;
    };
    const forwarder = new Forwarder(await opened(worker));
    // The lock outlives the thread: as long as that runs, the database is open.
    end = () =>
      forwarder.call("close", []).then(
        () => exited,
        async (error: unknown) => {
          await worker.terminate();
          await exited;
          throw error;
        },
      );
    const wake = createLocalWake();
    let closing: Promise<void> | undefined;
    const store = forwardedStore(forwarder, () => {
      closing ??= end().finally(() => {
        lock.release();
        return wake.close?.();
      });
      return closing;
    });
    await store.migrate();
    await forwarder.call("forgetNodes", []);
    return { store, wake, memoryStore: (owner) => forwardedMemoryStore(forwarder, owner) };
  } catch (error) {
    // Why it was refused matters more than how the thread ended.
    await end().catch(() => undefined);
    lock.release();
    throw error;
  }
}

function opened(worker: Worker): Promise<Worker> {
  return new Promise((resolve, reject) => {
    worker.once("message", (message: Opened) => {
      if ("failure" in message) reject(fromFailure(message.failure));
      else resolve(worker);
    });
    worker.once("error", reject);
    worker.once("exit", () =>
      reject(new ParleyError("store_unavailable", "The embedded database has ended", { retryable: false })),
    );
  });
}
