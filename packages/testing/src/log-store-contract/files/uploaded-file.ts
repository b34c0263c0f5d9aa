import { createHash } from "node:crypto";
import { pieceBytes, type StoredFilePart } from "@parley/core/messages";
import type { LogStore, UploadRecord } from "@parley/core/ports";
import { check } from "../../contract-case.js";
import { type Scenario, uniqueId } from "../scenario.js";

/** Longer than any case takes. */
export const longMs = 600_000;

/** A limit that no case reaches. */
export const plenty = 2 ** 40;

/** Returns bytes that differ from those of every other call. */
export function freshBytes(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let start = 0; start < length; start += 65_536) {
    crypto.getRandomValues(bytes.subarray(start, Math.min(length, start + 65_536)));
  }
  return bytes;
}

/** Returns the hash that bytes are stored under. */
export function hashBytes(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Options of a case's upload. Missing ones are generated. */
interface Uploading {
  readonly id?: string;
  readonly name?: string;
  readonly mediaType?: string;
  readonly unsentMs?: number;
  readonly ownerBytes?: number;
}

/** Begins an upload and writes its pieces. Returns its id. */
export async function begin(store: LogStore, bytes: Uint8Array, given: Uploading = {}): Promise<string> {
  const { id = uniqueId(), ownerBytes = plenty } = given;
  await store.beginUpload({ id, stalledMs: longMs });
  for (let n = 0; n * pieceBytes < bytes.byteLength; n += 1) {
    const data = bytes.subarray(n * pieceBytes, (n + 1) * pieceBytes);
    await store.writePiece({ id, n, data, stalledMs: longMs, ownerBytes });
  }
  return id;
}

/** Uploads a whole file. */
export async function upload(
  store: LogStore,
  bytes: Uint8Array,
  given: Uploading = {},
): Promise<UploadRecord> {
  const { name = "a.bin", mediaType = "application/octet-stream", unsentMs = longMs } = given;
  const id = await begin(store, bytes, given);
  return store.finishUpload({ id, hash: hashBytes(bytes), name, mediaType, unsentMs });
}

/** Returns all bytes of a file; null if they are gone. */
export async function readAll(store: LogStore, blob: number): Promise<Uint8Array | null> {
  const pieces: Uint8Array[] = [];
  let offset = 0;
  for (;;) {
    const data = await store.readBlob({ blob, offset, length: pieceBytes });
    if (data === null) break;
    if (data === "elsewhere") throw new Error("the bytes are stored elsewhere");
    pieces.push(data);
    offset += data.byteLength;
  }
  if (pieces.length === 0) return null;
  const whole = new Uint8Array(offset);
  let start = 0;
  for (const piece of pieces) {
    whole.set(piece, start);
    start += piece.byteLength;
  }
  return whole;
}

/** Returns the part of a message that refers to an upload. */
export function filePart({ hash, size, name, mediaType }: UploadRecord): StoredFilePart {
  return { type: "file", mediaType, hash, size, filename: name };
}

/** Collects until there is nothing left to collect. */
export async function collectAll({ root }: Scenario): Promise<void> {
  for (let call = 0; ; call += 1) {
    check(call < 1_000, "the collector comes to an end");
    const { more } = await root.collectBlobs(20);
    if (!more) return;
  }
}
