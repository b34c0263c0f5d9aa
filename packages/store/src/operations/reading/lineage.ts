/**
 * The log of the conversation `$1` of the owner `$2`, which is the `reader`, and its ancestors, nearest first, each with
 * the part that the reader sees of it: the seqs above `floor` are the log's own, those above `through` nobody sees from here. Ancestors are found by their key,
 * and only as long as the statement pulls rows from them: the newest messages of a fork of a fork cost what they cost
 * in a single log, unless they reach back.
 *
 * A statement that reads through it relies on the order of the walk, which a nested loop keeps: sorting would read
 * all ancestors first. The plan tests hold it to that.
 */
export function lineage(stopAt = "0"): string {
  return `
WITH RECURSIVE lineage AS (
  SELECT c.log, c.parent, c.log AS reader, coalesce(c.parent_seq, 0) AS floor, 2147483647 AS through
  FROM parley.conversation c WHERE c.owner = $2 AND c.id = $1 AND c.status <> 'removed'
  UNION ALL
  SELECT p.log, p.parent, l.reader, coalesce(p.parent_seq, 0), least(l.through, l.floor)
  FROM lineage l JOIN parley.conversation p ON p.log = l.parent WHERE least(l.through, l.floor) > ${stopAt}
)`;
}
