import type { ResultRow } from "../../database.js";

/**
 * Selects the log of the conversation `$1` of the owner `$2`, which is the `reader`, and its ancestors, nearest first,
 * each with the part that the reader sees of it: the seqs above `floor` are the log's own, those above `through` are
 * not visible from here. Ancestors are found by their key, and only as long as the statement pulls rows from them: the
 * newest messages of a fork of a fork cost what they cost in a single log, unless they reach back.
 *
 * Ancestors between a log and the one that its `jump` names are skipped if the reader sees nothing of them, or nothing
 * at or below `upTo`. A page therefore costs the logs that have rows in it, and a logarithm of the chain's length for
 * each; see `jumpOf`.
 *
 * With `undone`, each row has the number of summaries that were taken out of force for the reader; see `viewOf`.
 *
 * A statement that reads through it relies on the order of the walk, which a nested loop keeps: sorting would read all
 * ancestors first. The plan tests check that.
 */
export function lineage({ above = "0", upTo = "2147483647", undone = false } = {}): string {
  return `
WITH RECURSIVE lineage AS (
  SELECT c.log, c.parent, c.jump, c.jump_seq, c.log AS reader, coalesce(c.parent_seq, 0) AS floor, 2147483647 AS through${
    undone ? `, ${undoneCount}` : ""
  }
  FROM parley.conversation c WHERE c.owner = $2 AND c.id = $1 AND c.status <> 'removed'
  UNION ALL
  SELECT p.log, p.parent, p.jump, p.jump_seq, l.reader, coalesce(p.parent_seq, 0),
    least(l.through, l.floor, CASE WHEN p.log = l.jump THEN l.jump_seq END)${undone ? ", l.undone" : ""}
  FROM lineage l JOIN parley.conversation p
    ON p.log = CASE WHEN l.jump IS NOT NULL AND least(l.through, l.jump_seq) >= least(l.through, l.floor, ${upTo})
      THEN l.jump ELSE l.parent END
  WHERE least(l.through, l.floor) > ${above}
)`;
}

const undoneCount =
  "(SELECT count(*)::int4 FROM parley.compaction u WHERE u.log = c.log AND u.kind = 'undone') AS undone";

/**
 * Identifies what a reader that keeps rows has read, from a row with `reader` and `undone`: logs are never numbered
 * again, and what was taken out of force never comes back, so under the same view nothing that was read has changed.
 */
export function viewOf({ reader, undone }: ResultRow): string {
  return `${reader}.${undone}`;
}

/**
 * Returns the columns of a fork of the log `o` at the seq in the parameter `atSeq`: its distance from the first
 * ancestor, an ancestor to jump to, and the least seq at which the logs on the way leave each other. `j` is what `o`
 * jumps to, and `k` what `j` jumps to.
 *
 * Jumps are those of a skew-binary list: if the last two are equally long, the new one is as long as both and the step
 * between them. So any ancestor is reached in a number of steps that grows with the logarithm of the chain's length,
 * and a log needs one jump only. Forks that an earlier version made have none, and are walked one by one.
 */
export function jumpOf(atSeq: string): string {
  const isMerged = "o.depth - j.depth = j.depth - k.depth";
  return `depth = coalesce(o.depth, 0) + 1, jump = CASE WHEN ${isMerged} THEN j.jump ELSE o.log END,
  jump_seq = CASE WHEN ${isMerged} THEN least(${atSeq}, o.jump_seq, j.jump_seq) ELSE ${atSeq} END`;
}

/** Tables that `jumpOf` reads, beside `o`. */
export const jumpTables = `LEFT JOIN parley.conversation j ON j.log = o.jump
LEFT JOIN parley.conversation k ON k.log = j.jump`;
