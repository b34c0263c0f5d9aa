import type { Finding } from "@parley/wire";
import type { StoreContext } from "../../store-context.js";
import { collectBlobs } from "./collect.js";
import { lockOwner } from "./file-owner.js";

/** Bytes that have been due for longer than this are not being collected by any node. */
const overdueMinutes = 60;
/** Files that one statement marks, and that are collected at once. */
const filesAtOnce = 1_000;

/** Files that nothing refers to and that no collector will find: their mark is missing. */
const lost = `b.check_at IS NULL AND NOT EXISTS (SELECT FROM parley.blob_ref r WHERE r.blob = b.number)
  AND NOT EXISTS (SELECT FROM parley.upload u WHERE u.blob = b.number)`;

/** Bytes of the derived forms of a file. */
const derivedSize = `(SELECT coalesce(sum(length(d.data)), 0) FROM parley.derived_file d WHERE d.blob = b.number)`;

/** Owners whose sum is not that of their files. */
const miscounted = `SELECT o.owner FROM parley.file_owner o
  LEFT JOIN (SELECT b.owner, sum(b.size + ${derivedSize}) AS bytes FROM parley.blob b GROUP BY b.owner) s
    ON s.owner = o.owner
  WHERE o.bytes <> coalesce(s.bytes, 0)`;

/** Examines the files for the doctor. Reads their rows, not their bytes. */
export async function fileFinding(store: StoreContext, fix: boolean): Promise<Finding> {
  const [row] = await store.database.query({
    text: `SELECT count(*)::int4 AS files, coalesce(sum(b.size), 0)::float8 AS bytes,
        count(*) FILTER (WHERE ${lost})::int4 AS lost,
        count(*) FILTER (WHERE b.check_at < statement_timestamp() - $1::float8 * interval '1 minute')::int4 AS overdue,
        (SELECT count(*)::int4 FROM (${miscounted}) AS m) AS miscounted
      FROM parley.blob b`,
    values: [overdueMinutes],
  });
  const [count, orphans] = [Number(row?.files), Number(row?.lost) + Number(row?.overdue)];
  const owners = Number(row?.miscounted);
  if (orphans === 0 && owners === 0) {
    const size = (Number(row?.bytes) / 2 ** 20).toFixed(1);
    return { area: "files", level: "ok", message: `Files: ${count}, ${size} MB` };
  }
  if (fix) {
    await markLost(store);
    while ((await collectBlobs(store, filesAtOnce)).more);
    await countAgain(store);
  }
  return {
    area: "files",
    level: "warning",
    message: `${orphans} of ${count} files are referred to by nothing; the size of the files of ${owners} owners is wrong`,
    fixable: true,
    ...(fix ? { fixed: true } : { advice: "Let the doctor fix it: such files are never read again" }),
  };
}

async function markLost(store: StoreContext): Promise<void> {
  for (;;) {
    const rows = await store.database.query({
      text: `SELECT b.owner, b.number::float8 AS number FROM parley.blob b WHERE ${lost} LIMIT ${filesAtOnce}`,
    });
    if (rows.length === 0) return;
    await store.database.query({
      text: `UPDATE parley.blob b SET check_at = statement_timestamp()
        FROM unnest($1::text[], $2::int8[]) AS found(owner, number)
        WHERE b.owner = found.owner AND b.number = found.number`,
      values: [rows.map(({ owner }) => String(owner)), rows.map(({ number }) => Number(number))],
    });
  }
}

async function countAgain(store: StoreContext): Promise<void> {
  for (const { owner } of await store.database.query({ text: miscounted })) {
    await store.database.batch([
      lockOwner(String(owner)),
      {
        text: `UPDATE parley.file_owner SET bytes = (
          SELECT coalesce(sum(b.size + ${derivedSize}), 0) FROM parley.blob b WHERE b.owner = $1)
          WHERE owner = $1`,
        values: [String(owner)],
      },
    ]);
  }
}
