-- A head is rewritten by every write of its conversation, a turn by every commit: room in the page keeps those
-- updates from touching an index.
ALTER TABLE conversation_head SET (fillfactor = 50);
--> statement-breakpoint
ALTER TABLE conversation_turn SET (fillfactor = 80);
--> statement-breakpoint
-- Rows of the journal live for a step. What they leave is to be used again soon, however large the table was.
ALTER TABLE turn_journal SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
