import { fdatasyncSync } from "node:fs";
import { PGlite } from "@electric-sql/pglite";
import { NodeFS } from "@electric-sql/pglite/nodefs";

type Init = NodeFS["init"];
type InitOptions = Parameters<Init>[1];
type PreRun = NonNullable<InitOptions["preRun"]>[number];

/** The file operations of Emscripten's Node file system that matter here; the rest is left as it is. */
interface NodeFileOperations {
  stream_ops: { fsync?: (stream: { readonly nfd?: number }) => number };
}

/**
 * PGlite's folder on disk, with the one operation that it lacks: `fsync`. Without it a commit is safe from a crash of
 * the process, but not from a power cut. It reaches into PGlite's internals, so the version is pinned exactly and a
 * test counts the system calls.
 */
export class DurableNodeFS extends NodeFS {
  override async init(pg: PGlite, options: InitOptions): ReturnType<Init> {
    const { emscriptenOpts } = await super.init(pg, options);
    const addSync = ((module: { NODEFS: NodeFileOperations }) => {
      module.NODEFS.stream_ops.fsync = (stream) => {
        if (stream.nfd !== undefined) fdatasyncSync(stream.nfd);
        return 0;
      };
    }) as unknown as PreRun;
    const before = emscriptenOpts.preRun;
    const list = before === undefined ? [] : Array.isArray(before) ? before : [before];
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...list, addSync] } };
  }
}

/** PGlite's own start parameters without the one that turns syncing off, and with a method that calls `fsync`. */
export function durableStartParams(): string[] {
  return [
    ...PGlite.defaultStartParams.filter((parameter) => parameter !== "-F"),
    "-c",
    "wal_sync_method=fsync",
  ];
}
