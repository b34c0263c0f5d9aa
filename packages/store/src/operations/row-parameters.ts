import type { StatementValue } from "../database.js";
import { messageIs } from "../id-key.js";
import { type MessageRow, rowLists, rowsById } from "../message-row.js";

/** Form in which a statement receives the rows of a call: a single row (most calls) as values, several as lists. */
export type RowForm = "row" | "rows";

/**
 * Converts rows to the parameters of a statement of `rowStatements`. A single row needs no list to be written, read and
 * unnested, and a third fewer steps in the plan, which the server sets up for each call.
 */
export function rowParameters(rows: readonly MessageRow[]): {
  form: RowForm;
  /** Number of seqs that they take. */
  total: number;
  values: readonly StatementValue[];
} {
  const [row, other] = rows;
  if (row === undefined || other !== undefined) return { form: "rows", ...rowLists(rows) };
  const { id, role, type, content, createdAt, resourceId, key, parts, tokens } = row;
  const counted = [tokens?.count ?? null, tokens?.rule ?? null];
  return {
    form: "row",
    total: parts,
    values: [id, role, type, content, createdAt, resourceId, key, ...counted],
  };
}

/** Clauses of a statement that writes the rows of its parameters. */
interface RowClauses {
  /** Selects those of the rows that are in the log already. */
  readonly present: string;
  /** Selects rows of any log that have the id of one of them. */
  readonly used: string;
  /** Writes the rows for one row of `from`, which has the log, the ordinal of the turn and the first seq. */
  insert(from: string): string;
}

/**
 * Returns a statement in both forms. Its rows are the parameters from `first` on; `log` names the log, `step` is the
 * mark of the step and `total` the number of seqs that the rows take.
 */
export function rowStatements(
  first: number,
  log: string,
  text: (clauses: RowClauses) => string,
  { step, total } = { step: "$5", total: "$6" },
): Record<RowForm, string> {
  const at = (place: number) => `$${first + place}`;
  return {
    row: text({
      present: `SELECT FROM parley.conversation_message m WHERE ${messageIs(at(0), at(6), log)}`,
      used: `SELECT FROM parley.conversation_message m WHERE ${messageIs(at(0), at(6), "m.log")}`,
      insert: (from) => `${insert}
  SELECT ${from}.log, ${at(0)}, ${at(1)}, ${at(2)}, ${at(3)}::jsonb, ${at(4)}::timestamptz, ${at(5)}, ${from}.first_seq,
    ${total}::int4, ${from}.turn_count, ${step}, ${at(6)}::int8, ${at(7)}::int4, ${at(8)}::int2
  FROM ${from}`,
    }),
    rows: text({
      present: `SELECT FROM ${rowsById(at(0), at(8), log)}`,
      used: `SELECT FROM ${rowsById(at(0), at(8), "m.log")}`,
      insert: (from) => `${insert}
  SELECT ${from}.log, g.id, g.role, g.type, g.content::jsonb, g.created_at, g.resource_id, ${from}.first_seq + g.start,
    g.parts, ${from}.turn_count, ${step}, g.id_key, g.tokens, g.token_rule
  FROM ${from}, unnest(${at(0)}::text[], ${at(1)}::text[], ${at(2)}::text[], ${at(3)}::text[], ${at(4)}::timestamptz[],
    ${at(5)}::text[], ${at(6)}::int4[], ${at(7)}::int4[], ${at(8)}::int8[], ${at(9)}::int4[], ${at(10)}::int2[])
    AS g(id, role, type, content, created_at, resource_id, start, parts, id_key, tokens, token_rule)`,
    }),
  };
}

const insert = `INSERT INTO parley.conversation_message
    (log, id, role, type, content, created_at, resource_id, first_seq, part_count, turn, step, id_key, tokens,
    token_rule)`;
