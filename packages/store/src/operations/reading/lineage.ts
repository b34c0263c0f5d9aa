/**
 * The log `$1` of the owner `$2` and its ancestors, nearest first, each with the part that the log sees of it: the
 * seqs above `floor` are the log's own, those above `through` nobody sees from here. Ancestors are found by their key,
 * and only as long as the statement pulls rows from them: the newest messages of a fork of a fork cost what they cost
 * in a single log, unless they reach back.
 *
 * A statement that reads through it relies on the order of the walk, which a nested loop keeps: sorting would read
 * all ancestors first. The plan tests hold it to that.
 */
export function lineage(stopAt = "0"): string {
  return `
WITH RECURSIVE lineage AS (
  SELECT c.id, c.log, c.parent_id, coalesce(c.parent_seq, 0) AS floor, 2147483647 AS through
  FROM conversation c WHERE c.id = $1 AND c.owner = $2 AND c.status <> 'removed'
  UNION ALL
  SELECT p.id, p.log, p.parent_id, coalesce(p.parent_seq, 0), least(l.through, l.floor)
  FROM lineage l JOIN conversation p ON p.id = l.parent_id WHERE least(l.through, l.floor) > ${stopAt}
)`;
}
