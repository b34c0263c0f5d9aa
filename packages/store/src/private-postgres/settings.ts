/** Settings that a private server is started with. */
export interface ServerSettings {
  /** True if a commit waits for the disk. */
  readonly durable: boolean;
  /** Folder of the socket, as the server names it. */
  readonly socketFolder: string;
}

/**
 * Creates the server's configuration: small, for a few processes of one machine, and reachable only through its socket.
 * Only its owner can enter the folder, which keeps others out.
 */
export function configuration({ durable, socketFolder }: ServerSettings): string {
  const settings: Readonly<Record<string, string>> = {
    listen_addresses: "",
    unix_socket_directories: socketFolder,
    unix_socket_permissions: "0700",
    max_connections: "100",
    // The system's own cache does the rest: a conversation's log is small, and read from its end.
    shared_buffers: "16MB",
    work_mem: "4MB",
    maintenance_work_mem: "16MB",
    max_wal_size: "128MB",
    min_wal_size: "32MB",
    wal_buffers: "1MB",
    fsync: durable ? "on" : "off",
    full_page_writes: durable ? "on" : "off",
    // Nothing outside the folder, so that a killed server leaves nothing behind.
    dynamic_shared_memory_type: "mmap",
    // No unnecessary process.
    autovacuum_max_workers: "1",
    max_worker_processes: "0",
    max_parallel_workers: "0",
    max_parallel_workers_per_gather: "0",
    max_logical_replication_workers: "0",
    max_wal_senders: "0",
    wal_level: "replica",
    jit: "off",
    // The caller reports a failing statement.
    log_min_messages: "log",
    log_min_error_statement: "panic",
    log_checkpoints: "off",
    timezone: "UTC",
    datestyle: "ISO",
    client_encoding: "UTF8",
    lc_messages: "C",
    default_text_search_config: "pg_catalog.english",
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`)
    .join("");
}

/** Returns settings that only newer servers know: no processes for reading ahead. */
export function newerSettings(major: number): string {
  return major >= 18 ? "io_method = 'sync'\n" : "";
}

/** Rule that lets in every process that reaches the socket, as the only user. */
export const access = "local all all trust\n";

/** The database's superuser, and the database: those that a new cluster has. */
export const superuser = "parley";
export const databaseName = "postgres";
