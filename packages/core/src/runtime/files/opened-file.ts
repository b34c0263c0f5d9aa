import type { FileReference } from "@parley/wire";
import { isParleyError, ParleyError } from "../../errors.js";
import { pieceBytes } from "../../messages/file-pieces.js";
import type { BlobNumber, LogStore } from "../../ports/log-store.js";

/** Names a file of an owner: an upload that was not sent yet, or a part of a message. */
export type FilePlace =
  | { readonly uploadId: string }
  | { readonly conversationId: string; readonly seq: number };

/** A file that can be read. */
export interface OpenedFile {
  readonly name: string;
  readonly mediaType: string;
  readonly size: number;
  readonly hash: string;
  /** Expiry of an upload, in epoch milliseconds. */
  readonly expiresAt?: number;
  /**
   * Yields the bytes from `start` to `end` (exclusive), piece by piece. Fails with `conversation_not_found` if the
   * file is removed meanwhile.
   */
  read(start: number, end: number): AsyncGenerator<Uint8Array, void, undefined>;
}

/** A file, and the number that identifies its bytes in the store. */
export interface FoundFile extends OpenedFile {
  readonly blob: BlobNumber;
}

/**
 * Returns the refusal of a file that does not exist, is another owner's, or never existed: they cannot be
 * distinguished.
 */
export function unknownFile(): ParleyError {
  return new ParleyError("conversation_not_found", "No such file");
}

/** Finds a file by its place. A hash is not a place: it gives no access. */
export async function openFile(store: LogStore, place: FilePlace): Promise<FoundFile> {
  if ("uploadId" in place) {
    const found = await store.findUpload(place.uploadId);
    if (found === null) throw unknownFile();
    const { name, mediaType, size, hash, expiresAt, blob } = found;
    return { name, mediaType, size, hash, expiresAt, blob, read: reader(store, blob) };
  }
  const { hash, size, mediaType, name = "file" } = await findReference(store, place);
  const blob = await store.findBlob(hash);
  if (blob === null) throw unknownFile();
  return { name, mediaType, size, hash, blob: blob.blob, read: reader(store, blob.blob) };
}

/** Finds the file at a seq of the log, own or inherited, also of the open turn. */
async function findReference(
  store: LogStore,
  { conversationId, seq }: { readonly conversationId: string; readonly seq: number },
): Promise<FileReference> {
  const range = { sinceSeq: seq - 1, beforeSeq: seq + 1, open: true };
  const { chunks } = await store.readChunks({ conversationId, ...range }).catch((error: unknown) => {
    if (isParleyError(error) && error.code === "conversation_not_found") throw unknownFile();
    throw error;
  });
  const chunk = chunks[0]?.chunk;
  if (chunk?.type !== "text" || chunk.file === undefined) throw unknownFile();
  return chunk.file;
}

/** Returns a reader of bytes of the store, piece by piece. */
export function reader(store: LogStore, blob: BlobNumber): OpenedFile["read"] {
  return async function* read(start, end) {
    for (let offset = start; offset < end; ) {
      const length = Math.min(end - offset, pieceBytes);
      const data = await store.readBlob({ blob, offset, length });
      if (data === null) throw unknownFile();
      if (data === "elsewhere") throw storedElsewhere();
      yield data;
      offset += data.byteLength;
    }
  };
}

function storedElsewhere(): ParleyError {
  const message = "The bytes of this file are in an object store that is not configured here; configure it";
  return new ParleyError("store_unavailable", message, { retryable: false });
}
