import { statfsSync } from "node:fs";
import { ParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";

const mebibyte = 2 ** 20;

/**
 * Free space that is left untouched. PostgreSQL's write-ahead log grows by whole segments of 16 MiB, and PGlite does not
 * survive a write that fails, so a segment must fit at any time. New work leaves a second one for the work that runs.
 * A new store takes 56 MiB, and its log grows with the first messages.
 */
export const reservedBytes = {
  create: 96 * mebibyte,
  open: 18 * mebibyte,
  running: 18 * mebibyte,
  new: 34 * mebibyte,
} as const;

/** Bytes on disk for each byte of a value: in the log, in its table and in the index for searching. */
const bytesPerByte = 4;

/** With this much space any request fits: there is no need to measure it. */
const plentyBytes = 1_024 * mebibyte;

/** Refuses a call that would fill the disk, before the database starts it. */
export function checkSpace(
  folder: string,
  purpose: keyof typeof reservedBytes,
  values: unknown = undefined,
): void {
  const freeBytes = freeSpace(folder);
  if (freeBytes === undefined || freeBytes >= plentyBytes) return;
  const neededBytes = reservedBytes[purpose] + bytesPerByte * sizeOf(values);
  if (freeBytes < neededBytes) throw diskFull({ freeBytes, neededBytes });
}

/** Creates the failure of a disk that has no space left. */
export function diskFull(found: {
  readonly freeBytes: number | undefined;
  readonly neededBytes: number;
  readonly cause?: unknown;
}): ParleyError {
  const { freeBytes, neededBytes, cause } = found;
  const free = freeBytes === undefined ? "" : `${inMebibytes(freeBytes)} free, `;
  return new ParleyError(
    "store_unavailable",
    `The disk of the embedded store is full: ${free}${inMebibytes(neededBytes)} needed. ` +
      "Free some space on it; the store goes on by itself, and nothing that was acknowledged is lost.",
    {
      details: { reason: "disk_full", neededBytes, ...omitUndefined({ freeBytes }) },
      ...omitUndefined({ cause }),
    },
  );
}

/** Returns the free bytes on the disk of a folder, if the system provides them. */
export function freeSpace(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/** Estimates the bytes of the text in a value. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  let size = 0;
  for (const [name, inner] of Object.entries(value)) size += name.length + sizeOf(inner);
  return size;
}

function inMebibytes(bytes: number): string {
  return `${Math.ceil(bytes / mebibyte)} MiB`;
}
