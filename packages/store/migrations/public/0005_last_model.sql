ALTER TABLE "conversation" ADD COLUMN "last_model" text;
--> statement-breakpoint
-- A conversation goes on with the model of its newest turn that names one, inherited turns included.
WITH RECURSIVE lineage AS (
  SELECT c.id AS reader, c.log, c.parent_id, coalesce(c.parent_seq, 0) AS floor, 2147483647 AS through
  FROM "conversation" c
  UNION ALL
  SELECT l.reader, p.log, p.parent_id, coalesce(p.parent_seq, 0), least(l.through, l.floor)
  FROM lineage l JOIN "conversation" p ON p.id = l.parent_id WHERE least(l.through, l.floor) > 0
), named AS (
  SELECT t.log, t.last_seq, coalesce(t.model,
    CASE json_typeof(t.metrics) WHEN 'array' THEN t.metrics->>6 ELSE t.metrics->>'model' END) AS model
  FROM "conversation_turn" t
), newest AS (
  SELECT DISTINCT ON (l.reader) l.reader, n.model
  FROM lineage l JOIN named n ON n.log = l.log AND n.last_seq <= l.through AND n.model IS NOT NULL
  ORDER BY l.reader, n.last_seq DESC
)
UPDATE "conversation" c SET "last_model" = newest.model FROM newest WHERE c.id = newest.reader;
