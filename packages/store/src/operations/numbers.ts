import type { Statement } from "../database.js";

/**
 * Numbers are taken by separate statements and kept for the transaction in a setting, from which the statement that
 * writes reads them in the same round trip: a write calls no volatile function, so that an engine which distributes the
 * schema can forward it unchanged. Without the statement before it the number is NULL, and a write fails, because no
 * column for such a number takes NULL. It is no error by itself: such an engine evaluates it for a write without rows, too.
 */
const change = "parley_transaction.change";
const log = "parley_transaction.log";
const blob = "parley_transaction.blob";

/** The number that `takeChangeNumber` took in this transaction. */
export const changeNumber = taken(change);

/** The number that `takeLogNumber` took in this transaction. */
export const logNumber = taken(log);

/** The number that `takeBlobNumber` took in this transaction. */
export const blobNumber = taken(blob);

/** Returns the number in a setting; NULL if none was taken in this transaction. */
function taken(setting: string): string {
  return `nullif(current_setting('${setting}', true), '')::int8`;
}

/**
 * Takes the number of a change of this owner, under a shared advisory lock that names a lower bound of it: a reader of
 * the changes checks which locks are held, and leaves out what they may still bring. See `settled-change.ts`.
 */
export function takeChangeNumber(owner: string): Statement {
  return { name: "take_change_number", text: `SELECT ${takenChange("$1")} AS taken`, values: [owner] };
}

/** Returns the expression that does it, for a statement that also takes the lock of the conversation before. */
export function takenChange(owner: string): string {
  return `set_config('${change}', (CASE WHEN pg_advisory_xact_lock_shared(${changeLock(owner)},
  (SELECT last_value FROM parley.conversation_change)::bit(32)::int4) IS NOT NULL
  THEN nextval('parley.conversation_change') END)::text, true)`;
}

/**
 * Returns the first key of the advisory locks of an owner's changes. Two schemas of one database have different ones.
 */
export function changeLock(owner: string): string {
  return `hashtext('parley.' || ${owner})`;
}

/** Takes the number of a new log. */
export const takeLogNumber: Statement = {
  name: "take_log_number",
  text: `SELECT set_config('${log}', nextval('parley.log_number')::text, true) AS taken`,
};

/** Takes the number of the bytes of a new file. */
export const takeBlobNumber: Statement = {
  name: "take_blob_number",
  text: `SELECT set_config('${blob}', nextval('parley.blob_number')::text, true) AS taken`,
};
