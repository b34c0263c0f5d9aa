import { ParleyError } from "../../errors.js";
import { pieceBytes } from "../../messages/file-pieces.js";
import type { LogStore, UploadRecord } from "../../ports/log-store.js";
import type { FileLimits } from "./file-limits.js";
import { cleanFileName } from "./file-name.js";
import { sniffedBytes, sniffMediaType } from "./sniff-media-type.js";

/** Computes a SHA-256 of bytes that arrive one after the other: the platform's own, which core has no access to. */
export interface BytesHash {
  update(bytes: Uint8Array): void;
  /** Returns the hash in hexadecimal. */
  digest(): string;
}

/** A file that is being uploaded. */
export interface IncomingFile {
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly hash: BytesHash;
}

/**
 * Stores a file as it arrives, piece by piece: no more than one piece is held, and the sender waits while it is
 * written. After any failure, nothing of it stays.
 */
export async function receiveUpload(
  store: LogStore,
  id: string,
  { name, bytes, hash }: IncomingFile,
  limits: FileLimits,
): Promise<UploadRecord> {
  const { stalledMs, ownerBytes, fileBytes, unsentMs } = limits;
  await store.beginUpload({ id, stalledMs });
  try {
    const piece = new Uint8Array(pieceBytes);
    let filled = 0;
    let n = 0;
    let head = new Uint8Array(0);
    const write = async () => {
      const data = piece.subarray(0, filled);
      if (n === 0) head = data.slice(0, sniffedBytes);
      hash.update(data);
      await store.writePiece({ id, n, data, stalledMs, ownerBytes });
      n += 1;
      filled = 0;
    };
    for await (const part of bytes) {
      if (n * pieceBytes + filled + part.byteLength > fileBytes) throw tooLarge(fileBytes);
      for (let start = 0; start < part.byteLength; ) {
        const taken = part.subarray(start, start + pieceBytes - filled);
        piece.set(taken, filled);
        filled += taken.byteLength;
        start += taken.byteLength;
        if (filled === pieceBytes) await write();
      }
    }
    if (filled > 0) await write();
    const clean = cleanFileName(name);
    const mediaType = sniffMediaType(head, clean);
    return await store.finishUpload({ id, hash: hash.digest(), name: clean, mediaType, unsentMs });
  } catch (error) {
    // If even this fails, the upload makes no more progress, and is collected after a time.
    await store.dropUpload(id).catch(() => undefined);
    throw error;
  }
}

function tooLarge(fileBytes: number): ParleyError {
  return new ParleyError("too_large", `A file may have at most ${fileBytes} bytes (fileBytes)`, {
    details: { limit: fileBytes },
  });
}

/** Returns the id of an upload. The upload is read by it, so it cannot be guessed: 128 random bits. */
export function uploadId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `up_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
