-- Rows of a log are found by a number of four bytes instead of the conversation's id, messages name their turn by its
-- ordinal, ids are indexed by eight bytes, and a message that started its turn is its own receipt. What has a fixed size
-- stands first in a row; columns cannot be moved, so both tables are written anew.
CREATE FUNCTION id_key(id text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN id ~ '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$'
    THEN ('x' || substr(id, 1, 8) || substr(id, 10, 4) || substr(id, 33, 4))::bit(64)::bigint
    ELSE ('x' || substr(encode(sha256(convert_to(id, 'UTF8')), 'hex'), 1, 16))::bit(64)::bigint END
$$;
--> statement-breakpoint
COMMENT ON FUNCTION id_key IS 'What a message is found by, as whoever writes rows computes it';
--> statement-breakpoint
ALTER TABLE "conversation" ADD COLUMN "log" integer GENERATED ALWAYS AS IDENTITY (sequence name "conversation_log_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1);
--> statement-breakpoint
ALTER TABLE "conversation_head" ADD COLUMN "log" integer;
--> statement-breakpoint
UPDATE "conversation_head" h SET "log" = c."log" FROM "conversation" c WHERE c."id" = h."conversation_id";
--> statement-breakpoint
ALTER TABLE "conversation_head" ALTER COLUMN "log" SET NOT NULL;
--> statement-breakpoint
CREATE UNIQUE INDEX "conversation_head_log" ON "conversation_head" USING btree ("log");
--> statement-breakpoint
DROP INDEX "conversation_activity";
--> statement-breakpoint
CREATE INDEX "conversation_activity" ON "conversation" USING btree ("owner","last_activity_at");
--> statement-breakpoint
-- Names of constraints and indexes are free again once their tables have given way.
ALTER TABLE "conversation_message" RENAME TO "wide_message";
--> statement-breakpoint
ALTER INDEX "conversation_message_place" RENAME TO "wide_message_place";
--> statement-breakpoint
ALTER TABLE "conversation_turn" RENAME TO "wide_turn";
--> statement-breakpoint
ALTER INDEX "conversation_turn_order" RENAME TO "wide_turn_order";
--> statement-breakpoint
CREATE TABLE "conversation_message" (
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"id_key" bigint NOT NULL,
	"log" integer NOT NULL,
	"first_seq" integer NOT NULL,
	"part_count" integer NOT NULL,
	"turn" integer,
	"covers_from" integer,
	"covers_to" integer,
	"id" text COLLATE "C" NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"role" text NOT NULL,
	"type" text NOT NULL,
	"step" text COLLATE "C",
	"resource_id" text,
	"body_hash" text,
	"content" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "conversation_turn" (
	"started_at" timestamp with time zone NOT NULL,
	"sealed_at" timestamp with time zone,
	"log" integer NOT NULL,
	"ordinal" integer NOT NULL,
	"first_seq" integer NOT NULL,
	"last_seq" integer NOT NULL,
	"sealed_fence" integer,
	"id" text COLLATE "C" NOT NULL,
	"status" text NOT NULL,
	"reason" text,
	"model" text,
	"effort" text,
	"instructions" text,
	"next_turn_id" text COLLATE "C",
	"steps" json,
	"metrics" json,
	"provider_calls" json,
	"appended" json
);
--> statement-breakpoint
ALTER TABLE "conversation_turn" SET (fillfactor = 80);
--> statement-breakpoint
INSERT INTO "conversation_turn" (started_at, sealed_at, log, ordinal, first_seq, last_seq, sealed_fence, id, status,
  reason, model, effort, instructions, next_turn_id, steps, metrics, provider_calls, appended)
SELECT t.started_at, t.sealed_at, c.log, t.ordinal, t.first_seq, t.last_seq, t.sealed_fence, t.id, t.status, t.reason,
  t.model, t.effort, t.instructions, t.next_turn_id, t.steps, t.metrics, t.provider_calls, t.appended
FROM "wide_turn" t JOIN "conversation" c ON c.id = t.conversation_id;
--> statement-breakpoint
INSERT INTO "conversation_message" (created_at, id_key, log, first_seq, part_count, turn, covers_from, covers_to, id, thread_id,
  role, type, step, resource_id, body_hash, content)
SELECT m.created_at, id_key(m.id), c.log, m.first_seq, m.part_count, t.ordinal, m.covers_from, m.covers_to, m.id, m.thread_id, m.role,
  m.type, m.step, m.resource_id, r.body_hash, m.content
FROM "wide_message" m JOIN "conversation" c ON c.id = m.thread_id
LEFT JOIN "wide_turn" t ON t.id = m.turn_id AND t.conversation_id = m.thread_id
LEFT JOIN "receipt" r ON r.conversation_id = m.thread_id AND r.message_id = m.id AND r.outcome = 'started';
--> statement-breakpoint
DELETE FROM "receipt" r USING "wide_message" m
WHERE r.outcome = 'started' AND m.thread_id = r.conversation_id AND m.id = r.message_id;
--> statement-breakpoint
DROP TABLE "wide_message";
--> statement-breakpoint
DROP TABLE "wide_turn";
--> statement-breakpoint
ALTER TABLE "conversation_message" ADD CONSTRAINT "conversation_message_place" PRIMARY KEY("log","first_seq");
--> statement-breakpoint
CREATE INDEX "conversation_message_id" ON "conversation_message" USING btree ("id_key");
--> statement-breakpoint
CREATE INDEX "conversation_message_words" ON "conversation_message" USING gin (message_words("content"));
--> statement-breakpoint
-- What waits to be put in order is read by every search. Half a megabyte of it instead of four is written as fast.
ALTER INDEX "conversation_message_words" SET (gin_pending_list_limit = 512);
--> statement-breakpoint
ALTER TABLE "conversation_turn" ADD CONSTRAINT "conversation_turn_order" PRIMARY KEY("log","ordinal");
--> statement-breakpoint
CREATE INDEX "conversation_turn_id" ON "conversation_turn" USING btree (hashtextextended("id", 0));
--> statement-breakpoint
CREATE INDEX "conversation_turn_running" ON "conversation_turn" USING btree ("started_at") WHERE "conversation_turn"."status" = 'running';
