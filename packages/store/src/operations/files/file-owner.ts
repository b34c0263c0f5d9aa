import { ParleyError } from "@parley/core/errors";
import type { Statement } from "../../database.js";

/** Creates the row of an owner that every change of its files locks first. */
export function ensureOwner(owner: string): Statement {
  return {
    name: "ensure_file_owner",
    text: "INSERT INTO parley.file_owner (owner) VALUES ($1) ON CONFLICT (owner) DO NOTHING",
    values: [owner],
  };
}

/** Locks the row of an owner. Later statements of the same batch see everything that its last holder committed. */
export function lockOwner(owner: string): Statement {
  return {
    name: "lock_file_owner",
    text: "SELECT bytes::float8 AS bytes FROM parley.file_owner WHERE owner = $1 FOR UPDATE",
    values: [owner],
  };
}

/** Counts bytes of the owner. The caller holds its row. */
export function usageStatement(owner: string, bytes: number): Statement {
  return {
    name: "count_bytes",
    text: "UPDATE parley.file_owner SET bytes = bytes + $2::int8 WHERE owner = $1",
    values: [owner, bytes],
  };
}

/** Creates the refusal of bytes beyond the owner's quota. */
export function quotaExceeded(ownerBytes: number): ParleyError {
  return new ParleyError(
    "limit_exceeded",
    `The files of this owner may come to ${ownerBytes} bytes; delete conversations with files first`,
    { details: { ownerBytes }, retryable: false },
  );
}
