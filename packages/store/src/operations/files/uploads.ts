import { pieceBytes } from "@parley/core/messages";
import type {
  BlobRecord,
  FileUsage,
  FinishUpload,
  NewUpload,
  UploadPiece,
  UploadRecord,
} from "@parley/core/ports";
import type { Connection, Statement } from "../../database.js";
import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";
import { blobNumber, takeBlobNumber } from "../numbers.js";
import { invalid, messageConflict } from "../refusals.js";
import { returnedMs } from "../turns/head.js";
import { removeUnused } from "./collect.js";
import { ensureOwner, lockOwner, quotaExceeded, usageStatement } from "./file-owner.js";

/** Returns the time in `ms` milliseconds. */
const inMs = (ms: string) =>
  `date_trunc('milliseconds', statement_timestamp()) + ${ms}::float8 * interval '1 millisecond'`;

export async function beginUpload(store: StoreContext, owner: string, upload: NewUpload): Promise<void> {
  const id = storedText(upload.id);
  await store.database.transaction(async (connection) => {
    const [, , known = []] = await connection.batch([
      ensureOwner(owner),
      lockOwner(owner),
      {
        text: "SELECT 1 AS known FROM parley.upload WHERE owner = $1 AND id = $2",
        values: [owner, id],
      },
    ]);
    if (known.length > 0) throw messageConflict(upload.id, "This upload id was used before");
    await connection.batch([
      takeBlobNumber,
      {
        name: "begin_blob",
        text: `INSERT INTO parley.blob (number, owner, check_at) VALUES (${blobNumber}, $1, ${inMs("$2")})`,
        values: [owner, upload.stalledMs],
      },
      {
        name: "begin_upload",
        text: `INSERT INTO parley.upload (owner, id, blob, expires_at) VALUES ($1, $2, ${blobNumber}, ${inMs("$3")})`,
        values: [owner, id, upload.stalledMs],
      },
    ]);
  });
}

interface OpenUpload {
  readonly blob: number;
  readonly size: number;
  readonly isFinished: boolean;
  readonly record: UploadRecord;
  /** Size of the owner's files. */
  readonly bytes: number;
}

/** Locks the owner, then reads an upload. */
async function lockUpload(connection: Connection, owner: string, id: string): Promise<OpenUpload> {
  const [locked = [], found = []] = await connection.batch([lockOwner(owner), findStatement(owner, id)]);
  const [row] = found;
  if (row === undefined) throw invalid("No such upload; begin again", { uploadId: id });
  return {
    blob: Number(row.blob),
    size: Number(row.size),
    isFinished: row.is_finished === true,
    record: recordOf(id, row),
    bytes: Number(locked[0]?.bytes),
  };
}

function findStatement(owner: string, id: string): Statement {
  return {
    name: "find_upload",
    text: `
SELECT u.blob::float8 AS blob, b.size::float8 AS size, b.hash, u.is_finished, u.name, u.media_type,
  ${returnedMs("u.expires_at")} AS expires_ms
FROM parley.upload u JOIN parley.blob b ON b.number = u.blob
WHERE u.owner = $1 AND u.id = $2 AND u.expires_at > statement_timestamp()`,
    values: [owner, storedText(id)],
  };
}

function recordOf(id: string, row: Record<string, unknown>): UploadRecord {
  return {
    id,
    blob: Number(row.blob),
    hash: typeof row.hash === "string" ? row.hash : "",
    size: Number(row.size),
    name: originalText(String(row.name)),
    mediaType: originalText(String(row.media_type)),
    expiresAt: Math.round(Number(row.expires_ms)),
  };
}

export async function writePiece(
  store: StoreContext,
  owner: string,
  piece: UploadPiece,
): Promise<{ blob: number }> {
  const { id, n, data, ownerBytes } = piece;
  if (data.byteLength === 0 || data.byteLength > pieceBytes) {
    throw invalid(`A piece has 1 to ${pieceBytes} bytes`, { uploadId: id });
  }
  return store.database.transaction(async (connection) => {
    const { blob, size, isFinished, bytes } = await lockUpload(connection, owner, id);
    if (!isFinished && isLast(n, size, data.byteLength)) return { blob };
    if (isFinished || size !== n * pieceBytes) {
      throw invalid("The pieces of an upload come in their order, all but the last of them full", {
        uploadId: id,
        n,
      });
    }
    if (bytes + data.byteLength > ownerBytes) throw quotaExceeded(ownerBytes);
    await connection.batch([
      ...(data instanceof Uint8Array ? [insertPiece(blob, n, data)] : []),
      {
        name: "grow_blob",
        text: `UPDATE parley.blob SET size = size + $3::int4, check_at = ${inMs("$4")} WHERE number = $1 AND owner = $2`,
        values: [blob, owner, data.byteLength, piece.stalledMs],
      },
      {
        name: "grow_upload",
        text: `UPDATE parley.upload SET expires_at = ${inMs("$3")} WHERE owner = $1 AND id = $2`,
        values: [owner, storedText(id), piece.stalledMs],
      },
      usageStatement(owner, data.byteLength),
    ]);
    return { blob };
  });
}

/**
 * Writes a piece. Bytes are sent as base64, a third more than they are: the protocol's text form of `bytea` would
 * double them, and drivers differ in how they take binary values.
 */
function insertPiece(blob: number, n: number, data: Uint8Array): Statement {
  const encoded = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
  return {
    name: "insert_piece",
    text: "INSERT INTO parley.blob_piece (blob, n, data) VALUES ($1, $2, decode($3, 'base64'))",
    values: [blob, n, encoded],
  };
}

/** Returns true if the piece is the one that was written last. */
function isLast(n: number, size: number, length: number): boolean {
  return size === n * pieceBytes + length;
}

export async function finishUpload(
  store: StoreContext,
  owner: string,
  input: FinishUpload,
): Promise<UploadRecord> {
  const { id, hash, unsentMs } = input;
  return store.database.transaction(async (connection) => {
    const open = await lockUpload(connection, owner, id);
    if (open.isFinished) {
      if (open.record.hash === hash) return open.record;
      throw invalid("This upload is finished, with other bytes", { uploadId: id });
    }
    // The lock of the owner keeps the collector and other uploads from changing what is found here.
    const [same] = await connection.query(findBlobStatement(owner, hash));
    const blob = same === undefined ? open.blob : Number(same.blob);
    const [, finished] = await connection.batch([
      same === undefined
        ? {
            name: "name_blob",
            text: `UPDATE parley.blob SET hash = $3, check_at = ${inMs("$4")} WHERE number = $1 AND owner = $2`,
            values: [blob, owner, hash, unsentMs],
          }
        : {
            name: "check_blob",
            text: `UPDATE parley.blob SET check_at = ${inMs("$3")}
              WHERE number = $1 AND owner = $2 AND check_at IS NULL`,
            values: [blob, owner, unsentMs],
          },
      {
        name: "finish_upload",
        text: `UPDATE parley.upload SET is_finished = true, blob = $3, name = $4, media_type = $5,
          expires_at = ${inMs("$6")} WHERE owner = $1 AND id = $2
          RETURNING ${returnedMs("expires_at")} AS expires_ms`,
        values: [owner, storedText(id), blob, storedText(input.name), storedText(input.mediaType), unsentMs],
      },
    ]);
    if (same !== undefined) await removeUnused(connection, owner, open.blob);
    return {
      id,
      blob,
      hash,
      size: open.size,
      name: input.name,
      mediaType: input.mediaType,
      expiresAt: Math.round(Number(finished?.[0]?.expires_ms)),
    };
  });
}

export function dropUpload(store: StoreContext, owner: string, id: string): Promise<boolean> {
  return store.database.transaction(async (connection) => {
    const [, dropped = []] = await connection.batch([
      lockOwner(owner),
      {
        name: "drop_upload",
        text: `DELETE FROM parley.upload WHERE owner = $1 AND id = $2 RETURNING blob::float8 AS blob`,
        values: [owner, storedText(id)],
      },
    ]);
    const [row] = dropped;
    if (row === undefined) return false;
    await removeUnused(connection, owner, Number(row.blob));
    return true;
  });
}

export async function findUpload(
  store: StoreContext,
  owner: string,
  id: string,
): Promise<UploadRecord | null> {
  const [row] = await store.database.query(findStatement(owner, id));
  return row?.is_finished === true ? recordOf(id, row) : null;
}

function findBlobStatement(owner: string, hash: string): Statement {
  return {
    name: "find_blob",
    text: `SELECT number::float8 AS blob, size::float8 AS size FROM parley.blob WHERE owner = $1 AND hash = $2`,
    values: [owner, storedText(hash)],
  };
}

export async function findBlob(store: StoreContext, owner: string, hash: string): Promise<BlobRecord | null> {
  const [row] = await store.database.query(findBlobStatement(owner, hash));
  return row === undefined ? null : { blob: Number(row.blob), hash, size: Number(row.size) };
}

export async function readBlob(
  store: StoreContext,
  owner: string,
  { blob, offset, length }: { blob: number; offset: number; length: number },
): Promise<Uint8Array | "elsewhere" | null> {
  const n = Math.floor(offset / pieceBytes);
  const [row] = await store.database.query({
    name: "read_piece",
    text: `
SELECT encode(substring(p.data FROM $4::int4 FOR $5::int4), 'base64') AS data, b.size::float8 AS size
FROM parley.blob b LEFT JOIN parley.blob_piece p ON p.blob = b.number AND p.n = $3::int4
WHERE b.number = $1 AND b.owner = $2`,
    values: [blob, owner, n, offset - n * pieceBytes + 1, Math.min(Math.max(0, length), pieceBytes)],
  });
  if (row === undefined || offset >= Number(row.size) || row.data === "") return null;
  if (row.data === null) return "elsewhere";
  return new Uint8Array(Buffer.from(String(row.data), "base64"));
}

export async function fileUsage(store: StoreContext, owner: string): Promise<FileUsage> {
  const [row] = await store.database.query({
    name: "file_usage",
    text: "SELECT bytes::float8 AS bytes FROM parley.file_owner WHERE owner = $1",
    values: [owner],
  });
  return { bytes: row === undefined ? 0 : Number(row.bytes) };
}

export async function fileSecret(
  store: StoreContext,
  owner: string,
  proposed?: string,
): Promise<string | null> {
  const [known] = await store.database.query({
    name: "find_file_secret",
    text: "SELECT secret FROM parley.file_owner WHERE owner = $1 AND secret IS NOT NULL",
    values: [owner],
  });
  if (known !== undefined) return originalText(String(known.secret));
  if (proposed === undefined) return null;
  const [, rows] = await store.database.batch([
    ensureOwner(owner),
    {
      name: "file_secret",
      text: "UPDATE parley.file_owner SET secret = coalesce(secret, $2) WHERE owner = $1 RETURNING secret",
      values: [owner, storedText(proposed)],
    },
  ]);
  return originalText(String(rows?.[0]?.secret));
}
