import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { Readable } from "node:stream";
import type { UploadableFile } from "@parley/client/files";

/** A file of this machine, to be uploaded: read piece by piece, when it is sent. */
export function localFile(path: string): UploadableFile {
  const stream = () => Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>;
  return { name: basename(path), stream };
}
