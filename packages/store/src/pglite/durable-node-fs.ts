import { fdatasyncSync } from "node:fs";
import { PGlite } from "@electric-sql/pglite";
import { NodeFS } from "@electric-sql/pglite/nodefs";

type Init = NodeFS["init"];
type InitOptions = Parameters<Init>[1];
type PreRun = NonNullable<InitOptions["preRun"]>[number];

/** The file operations of Emscripten's Node file system that matter here; the rest is left as it is. */
interface NodeFileOperations {
  /** Runs a file operation and turns Node's error into an error number. Every operation goes through it. */
  tryFSOperation: <Result>(operation: () => Result) => Result;
  stream_ops: { fsync?: (stream: { readonly nfd?: number }) => number };
}

/** Receives what happens to the database's files. */
export interface FileObserver {
  onOperation(): void;
  /** Called when the disk refuses an operation, with Node's error: PostgreSQL often cannot continue after that. */
  onDiskFailure(error: NodeJS.ErrnoException): void;
}

/** Failures of the disk. PostgreSQL expects all others, such as a missing file. */
const diskFailures: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG", "EIO", "EROFS"]);

/**
 * Stores PGlite's folder on disk, with the one operation that it lacks: `fsync`. Without it a commit is safe from a
 * crash of the process, but not from a power cut. It reaches into PGlite's internals, so the version is pinned exactly
 * and a test counts the system calls.
 */
export class DurableNodeFS extends NodeFS {
  readonly #observer: FileObserver | undefined;

  constructor(folder: string, observer?: FileObserver) {
    super(folder);
    this.#observer = observer;
  }

  override async init(pg: PGlite, options: InitOptions): ReturnType<Init> {
    const { emscriptenOpts } = await super.init(pg, options);
    const observer = this.#observer;
    const change = ((module: { NODEFS: NodeFileOperations }) => {
      const files = module.NODEFS;
      if (observer !== undefined) observeFiles(files, observer);
      files.stream_ops.fsync = ({ nfd }) => {
        if (nfd !== undefined) files.tryFSOperation(() => fdatasyncSync(nfd));
        return 0;
      };
    }) as unknown as PreRun;
    const before = emscriptenOpts.preRun;
    const list = before === undefined ? [] : Array.isArray(before) ? before : [before];
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...list, change] } };
  }
}

function observeFiles(files: NodeFileOperations, observer: FileObserver): void {
  const run = files.tryFSOperation;
  files.tryFSOperation = (operation) =>
    run(() => {
      observer.onOperation();
      try {
        return operation();
      } catch (error) {
        if (error instanceof Error && diskFailures.has(Reflect.get(error, "code")))
          observer.onDiskFailure(error);
        throw error;
      }
    });
}

/**
 * Returns PGlite's own start parameters with a small write-ahead log: it is cut back to `max_wal_size` at each
 * checkpoint. Durable: without the parameter that turns syncing off, and with a method that calls `fsync`.
 */
export function startParams(options: { readonly durable: boolean }): string[] {
  const { durable } = options;
  return [
    ...PGlite.defaultStartParams.filter((parameter) => !durable || parameter !== "-F"),
    ...(durable ? ["-c", "wal_sync_method=fsync"] : []),
    ...["-c", "max_wal_size=64MB", "-c", "min_wal_size=32MB"],
    // A process takes the whole buffer memory, used or not, and files are in the system's cache as well.
    ...["-c", "shared_buffers=8MB"],
  ];
}
