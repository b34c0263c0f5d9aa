import { ParleyError } from "@parley/core/errors";
import { type ConversationMessage, derivedBytes, isStoredFile, pieceBytes } from "@parley/core/messages";
import type {
  BlobRecord,
  CollectedBlobs,
  DerivedBytes,
  FileUsage,
  FinishUpload,
  NewUpload,
  RemovedBlob,
  UploadPiece,
  UploadRecord,
} from "@parley/core/ports";
import type { FileVariant } from "@parley/wire";
import { invalid, type Log, type MemoryDatabase, ownerOf } from "./database.js";
import type { Blob, OwnerFiles, Upload } from "./owner-files.js";

/** Refuses messages that refer to bytes that the owner does not have. */
export function checkFiles(
  db: MemoryDatabase,
  owner: string,
  messages: readonly ConversationMessage[],
): void {
  for (const { content } of messages) {
    for (const part of content) {
      if (!isStoredFile(part) || ownerOf(db, owner).files.byHash.has(part.hash)) continue;
      throw invalid("A file of the message is not there; upload it again", { reason: "file_missing" });
    }
  }
}

export function beginUpload(db: MemoryDatabase, owner: string, { id, stalledMs }: NewUpload): void {
  const { files } = ownerOf(db, owner);
  if (files.uploads.has(id)) {
    throw new ParleyError("message_conflict", "This upload id was used before", {
      details: { messageId: id },
    });
  }
  db.lastBlob += 1;
  const blob: Blob = { number: db.lastBlob, size: 0, pieces: [], derived: new Map() };
  files.blobs.set(blob.number, blob);
  const expiresAt = db.clock.now() + stalledMs;
  files.uploads.set(id, { id, blob, expiresAt, isFinished: false, name: "", mediaType: "" });
}

/** Returns an upload that has not expired. */
function findOpen(db: MemoryDatabase, owner: string, id: string): Upload | undefined {
  const found = ownerOf(db, owner).files.uploads.get(id);
  return found !== undefined && found.expiresAt > db.clock.now() ? found : undefined;
}

function requireOpen(db: MemoryDatabase, owner: string, id: string): Upload {
  const found = findOpen(db, owner, id);
  if (found === undefined) throw invalid("No such upload; begin again", { uploadId: id });
  return found;
}

export function writePiece(db: MemoryDatabase, owner: string, piece: UploadPiece): { blob: number } {
  const { id, n, data, ownerBytes } = piece;
  const length = data.byteLength;
  if (length === 0 || length > pieceBytes) {
    throw invalid(`A piece has 1 to ${pieceBytes} bytes`, { uploadId: id });
  }
  const upload = requireOpen(db, owner, id);
  const { blob, isFinished } = upload;
  if (!isFinished && blob.size === n * pieceBytes + length) return { blob: blob.number };
  if (isFinished || blob.size !== n * pieceBytes) {
    throw invalid("The pieces of an upload come in their order, all but the last of them full", {
      uploadId: id,
      n,
    });
  }
  checkQuota(db, owner, length, ownerBytes);
  // A copy: a view would keep all of the buffer that it is a part of.
  blob.pieces.push(data instanceof Uint8Array ? data.slice() : null);
  blob.size += length;
  upload.expiresAt = db.clock.now() + piece.stalledMs;
  return { blob: blob.number };
}

function checkQuota(db: MemoryDatabase, owner: string, length: number, ownerBytes: number): void {
  if (fileUsage(db, owner).bytes + length <= ownerBytes) return;
  throw new ParleyError(
    "limit_exceeded",
    `The files of this owner may come to ${ownerBytes} bytes; delete conversations with files first`,
    { details: { ownerBytes }, retryable: false },
  );
}

export function finishUpload(db: MemoryDatabase, owner: string, input: FinishUpload): UploadRecord {
  const { files } = ownerOf(db, owner);
  const upload = requireOpen(db, owner, input.id);
  if (upload.isFinished) {
    if (upload.blob.hash === input.hash) return recordOf(upload);
    throw invalid("This upload is finished, with other bytes", { uploadId: input.id });
  }
  const same = files.byHash.get(input.hash);
  if (same === undefined) {
    upload.blob.hash = input.hash;
    files.byHash.set(input.hash, upload.blob);
  } else {
    removeBlob(db, files, upload.blob);
    upload.blob = same;
  }
  const { name, mediaType } = input;
  const expiresAt = db.clock.now() + input.unsentMs;
  Object.assign(upload, { isFinished: true, name, mediaType, expiresAt });
  return recordOf(upload);
}

function recordOf({ id, blob, name, mediaType, expiresAt }: Upload): UploadRecord {
  return { id, blob: blob.number, hash: blob.hash ?? "", size: blob.size, name, mediaType, expiresAt };
}

export function dropUpload(db: MemoryDatabase, owner: string, id: string): boolean {
  const { files } = ownerOf(db, owner);
  const upload = files.uploads.get(id);
  if (upload === undefined) return false;
  files.uploads.delete(id);
  if (!usedBlobs(db, owner, files).has(upload.blob)) removeBlob(db, files, upload.blob);
  return true;
}

export function findUpload(db: MemoryDatabase, owner: string, id: string): UploadRecord | null {
  const found = findOpen(db, owner, id);
  return found?.isFinished === true ? recordOf(found) : null;
}

export function findBlob(db: MemoryDatabase, owner: string, hash: string): BlobRecord | null {
  const found = ownerOf(db, owner).files.byHash.get(hash);
  return found === undefined ? null : { blob: found.number, hash, size: found.size };
}

export function readBlob(
  db: MemoryDatabase,
  owner: string,
  { blob, offset, length }: { blob: number; offset: number; length: number },
): Uint8Array | "elsewhere" | null {
  const n = Math.floor(offset / pieceBytes);
  const found = ownerOf(db, owner).files.blobs.get(blob);
  if (found === undefined || offset >= found.size) return null;
  const piece = found.pieces[n];
  if (piece === null) return "elsewhere";
  const start = offset - n * pieceBytes;
  const read = piece?.slice(start, start + Math.max(0, length));
  return read === undefined || read.byteLength === 0 ? null : read;
}

export function findDerived(
  db: MemoryDatabase,
  owner: string,
  { blob, variant }: { blob: number; variant: FileVariant },
): Uint8Array | null {
  return ownerOf(db, owner).files.blobs.get(blob)?.derived.get(variant)?.slice() ?? null;
}

export function saveDerived(
  db: MemoryDatabase,
  owner: string,
  { blob, variant, data, ownerBytes }: DerivedBytes & { ownerBytes: number },
): void {
  if (data.byteLength > derivedBytes) throw invalid(`A derived form has at most ${derivedBytes} bytes`);
  const derived = ownerOf(db, owner).files.blobs.get(blob)?.derived;
  if (derived === undefined) throw invalid("The bytes of this file are gone");
  if (derived.has(variant)) return;
  checkQuota(db, owner, data.byteLength, ownerBytes);
  derived.set(variant, data.slice());
}

export function fileUsage(db: MemoryDatabase, owner: string): FileUsage {
  let bytes = 0;
  for (const { size, derived } of ownerOf(db, owner).files.blobs.values()) {
    bytes += size;
    for (const { byteLength } of derived.values()) bytes += byteLength;
  }
  return { bytes };
}

export function fileSecret(db: MemoryDatabase, owner: string, proposed?: string): string | null {
  const { files } = ownerOf(db, owner);
  if (proposed !== undefined) files.secret ??= proposed;
  return files.secret ?? null;
}

export function collectBlobs(db: MemoryDatabase, limit: number): CollectedBlobs {
  const collected: CollectedBlobs = { blobs: 0, bytes: 0, more: false };
  for (const [owner, { files }] of db.owners) {
    for (const [id, { expiresAt }] of files.uploads) {
      if (expiresAt <= db.clock.now()) files.uploads.delete(id);
    }
    const used = usedBlobs(db, owner, files);
    for (const blob of files.blobs.values()) {
      if (used.has(blob)) continue;
      if (collected.blobs >= limit) return { ...collected, more: true };
      removeBlob(db, files, blob);
      collected.blobs += 1;
      collected.bytes += blob.size;
    }
  }
  return collected;
}

export function identity(db: MemoryDatabase, proposed: string): string {
  db.identity ??= proposed;
  return db.identity;
}

export function removedBlobs(db: MemoryDatabase, limit: number): RemovedBlob[] {
  return [...db.removedBlobs].slice(0, limit).map(([blob, pieces]) => ({ blob, pieces }));
}

export function forgetRemoved(db: MemoryDatabase, blobs: readonly number[]): void {
  for (const blob of blobs) db.removedBlobs.delete(blob);
}

export function existingBlobs(db: MemoryDatabase, blobs: readonly number[]): number[] {
  return blobs.filter((blob) => [...db.owners.values()].some(({ files }) => files.blobs.has(blob)));
}

function removeBlob(db: MemoryDatabase, files: OwnerFiles, blob: Blob): void {
  if (blob.pieces.includes(null)) db.removedBlobs.set(blob.number, blob.pieces.length);
  files.blobs.delete(blob.number);
  if (blob.hash !== undefined) files.byHash.delete(blob.hash);
}

/**
 * Returns the blobs that are referred to by uploads, by messages of living logs and of the logs they continue, and by
 * entries of queues.
 */
function usedBlobs(db: MemoryDatabase, owner: string, files: OwnerFiles): ReadonlySet<Blob> {
  const used = new Set<Blob>();
  for (const { blob, expiresAt } of files.uploads.values()) if (expiresAt > db.clock.now()) used.add(blob);
  const seen = new Set<Log>();
  const visit = (log: Log | undefined): void => {
    if (log === undefined || seen.has(log)) return;
    seen.add(log);
    for (const { message } of [...log.rows, ...log.queue]) {
      for (const part of message.content) {
        const blob = isStoredFile(part) ? files.byHash.get(part.hash) : undefined;
        if (blob !== undefined) used.add(blob);
      }
    }
    visit(log.parent?.log);
  };
  for (const log of ownerOf(db, owner).logs.values()) visit(log);
  return used;
}
