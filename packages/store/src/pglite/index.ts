import type { LogStoreRoot, MemoryStore, Wake } from "@parley/core/ports";
import { type FolderLock, lockFolder } from "../folder/folder-lock.js";
import { checkSchemaName, defaultSchema } from "../in-schema.js";
import type { MigrationProgress } from "../migration/migrations.js";
import { createDatabaseFolder, databaseFolder } from "./create-folder.js";
import { EmbeddedDatabase } from "./embedded-database.js";
import { forwardedMemoryStore, forwardedStore } from "./forward.js";
import { createLocalWake } from "./local-wake.js";

export { folderIdentity } from "../folder/folder-identity.js";

/** Options of the embedded database: its folder and its durability. */
export interface PgliteOptions {
  /** Folder of all files. Created if it does not exist. */
  readonly folder: string;
  /** The schema of the database that holds the tables. Default `parley`. */
  readonly schema?: string;
  /** Called while the rows of an older version are copied: for logs. */
  readonly onMigration?: (progress: MigrationProgress) => void;
  /** True (the default) if a commit waits for the disk, so that a power cut loses nothing that was acknowledged. */
  readonly durable?: boolean;
  /** Interval between vacuums while the database is written to. Default: every ten minutes. */
  readonly vacuumMs?: number;
}

/** The embedded store and its parts. */
export interface OpenedPglite {
  readonly store: LogStoreRoot;
  readonly wake: Wake;
  /** Creates an owner's store of canonical messages, over the same log. Closed with the store. */
  readonly memoryStore: (owner: string) => MemoryStore;
}

/**
 * Opens the embedded store, for one process. A second one is refused with an error that names the first. The schema is
 * migrated, and turns that a crash left open can be claimed at once: the folder's lock proves that no process runs
 * them. A thread of the database that fails later is replaced, and then leases are left as they are.
 */
export async function openPglite(options: PgliteOptions): Promise<OpenedPglite> {
  const { folder, durable = true, vacuumMs = 600_000, onMigration } = options;
  const schema = checkSchemaName(options.schema ?? defaultSchema);
  const lock = await lockFolder(folder);
  let database: EmbeddedDatabase | undefined;
  try {
    await createDatabaseFolder(folder);
    database = await EmbeddedDatabase.open({
      folder: databaseFolder(folder),
      schema,
      durable,
      vacuumMs,
      onMigration,
    });
    const wake = createLocalWake();
    const store = forwardedStore(database, closeOnce(database, lock, wake));
    await store.migrate();
    await database.call("forgetNodes", []);
    const opened = database;
    return { store, wake, memoryStore: (owner) => forwardedMemoryStore(opened, owner) };
  } catch (error) {
    // The reason of the refusal matters more than the database's own end.
    await database?.close().catch(() => undefined);
    lock.release();
    throw error;
  }
}

/** Closes the database and frees the folder, in this order: as long as the thread runs, the database is open. */
function closeOnce(database: EmbeddedDatabase, lock: FolderLock, wake: Wake): () => Promise<void> {
  let closing: Promise<void> | undefined;
  return () => {
    closing ??= database.close().finally(() => {
      lock.release();
      return wake.close?.();
    });
    return closing;
  };
}
