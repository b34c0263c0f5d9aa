import type { Statement, StatementValue } from "../../database.js";
import type { MessageRow } from "../../message-row.js";
import { storedText } from "../../stored-text.js";

/** A log and its owner. */
interface OwnedLog {
  readonly log: number;
  readonly owner: string;
}

/**
 * Refers to the files of rows, each of which begins at its own seq. Returns nothing if there are no files, which
 * is the usual case.
 *
 * Bytes that the owner does not have give a row without a blob, and bytes that the collector takes away meanwhile break
 * the foreign key: either rolls back the transaction, and `failureOf` distinguishes it from other failures. A statement
 * that checks first would be one more round trip, and would have to lock what it finds anyway.
 */
export function refStatements(
  head: OwnedLog,
  rows: readonly { readonly row: Pick<MessageRow, "files">; readonly firstSeq: number }[],
): Statement[] {
  const seqs: number[] = [];
  const hashes: string[] = [];
  for (const { row, firstSeq } of rows) {
    for (const { place, hash } of row.files) {
      seqs.push(firstSeq + place);
      hashes.push(hash);
    }
  }
  return insertRefs(head, "", seqs, hashes);
}

/** Refers to the files of a waiting message, by their places in it. */
export function queuedRefStatements(head: OwnedLog, row: MessageRow): Statement[] {
  const places = row.files.map(({ place }) => place);
  return insertRefs(
    head,
    row.id,
    places,
    row.files.map(({ hash }) => hash),
  );
}

function insertRefs(
  { log, owner }: OwnedLog,
  queued: string,
  seqs: readonly number[],
  hashes: readonly string[],
): Statement[] {
  if (seqs.length === 0) return [];
  return [
    {
      name: "insert_refs",
      text: `
INSERT INTO parley.blob_ref (log, seq, queued, blob)
SELECT $1::int8, g.seq, $3, b.number FROM unnest($4::int4[], $5::text[]) AS g(seq, hash)
LEFT JOIN parley.blob b ON b.owner = $2 AND b.hash = g.hash`,
      values: [log, owner, queued, seqs, hashes],
    },
  ];
}

/**
 * Removes the references of a message that waited and is in the log from now on: its row has its own, written in the
 * same transaction.
 */
export function deliveredRefStatements(log: number, ids: readonly string[]): Statement[] {
  if (ids.length === 0) return [];
  return [
    {
      name: "deliver_refs",
      text: "DELETE FROM parley.blob_ref WHERE log = $1 AND queued = ANY($2::text[])",
      values: [log, ids.map(storedText)],
    },
  ];
}

/** Removes the references of a message that no longer waits. */
export function removedQueueRefs(head: OwnedLog, id: string): Statement[] {
  return removeRefs("queued_refs", head.owner, "log = $2 AND queued = $3", [head.log, storedText(id)]);
}

/** Removes all references of messages that wait in these logs. */
export function removedQueuesRefs(owner: string, logs: readonly number[]): Statement[] {
  return removeRefs("waiting_refs", owner, "log = ANY($2::int8[]) AND queued <> ''", [logs]);
}

/** Removes the references of messages behind a seq. */
export function removedRefs(head: OwnedLog, afterSeq: number): Statement[] {
  return removeRefs("refs_behind", head.owner, "log = $2 AND queued = '' AND seq > $3", [head.log, afterSeq]);
}

/**
 * Removes references and lets the collector examine what they referred to. The bytes are locked first, in their order:
 * a collector that has just counted the references cannot clear the mark that is set here.
 */
function removeRefs(
  name: string,
  owner: string,
  which: string,
  values: readonly StatementValue[],
): Statement[] {
  const given = [owner, ...values];
  const refs = `parley.blob_ref WHERE ${which}`;
  return [
    {
      name: `lock_${name}`,
      text: `SELECT 1 AS locked FROM parley.blob
        WHERE owner = $1 AND number IN (SELECT blob FROM ${refs}) ORDER BY number FOR NO KEY UPDATE`,
      values: given,
    },
    {
      name: `remove_${name}`,
      text: `
WITH gone AS (DELETE FROM ${refs} RETURNING blob)
UPDATE parley.blob b SET check_at = statement_timestamp() FROM (SELECT DISTINCT blob FROM gone) g
WHERE b.number = g.blob AND b.owner = $1`,
      values: given,
    },
  ];
}
