CREATE SEQUENCE "parley"."conversation_change" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE SEQUENCE "parley"."log_number" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE SEQUENCE "parley"."search_owner_number" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "parley"."api_key" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"hash" text NOT NULL,
	"prefix" text NOT NULL,
	"scopes" text[] NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"last_used_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "parley"."compaction" (
	"log" bigint NOT NULL,
	"seq" integer NOT NULL,
	"kind" text NOT NULL,
	"from_seq" integer,
	"to_seq" integer,
	"archive" bigint,
	CONSTRAINT "compaction_entry" PRIMARY KEY("log","seq","kind")
);
--> statement-breakpoint
CREATE TABLE "parley"."conversation" (
	"log" bigint PRIMARY KEY NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"title" text NOT NULL,
	"status" text NOT NULL,
	"model" text,
	"effort" text,
	"instructions" text,
	"compact_threshold" double precision,
	"queue_paused" boolean DEFAULT false NOT NULL,
	"metadata" jsonb,
	"parent" bigint,
	"parent_seq" integer,
	"archive_of" bigint,
	"compacted_from" bigint,
	"context_size" double precision,
	"last_model" text,
	"created_at" timestamp with time zone NOT NULL,
	"last_activity_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	"changed_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "parley"."conversation_head" (
	"log" bigint PRIMARY KEY NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"next_seq" integer NOT NULL,
	"sealed_seq" integer NOT NULL,
	"turn_count" integer DEFAULT 0 NOT NULL,
	"turn_id" text COLLATE "C",
	"compaction_id" text COLLATE "C",
	"node" text COLLATE "C" DEFAULT '' NOT NULL,
	"fence" integer DEFAULT 0 NOT NULL,
	"stop_requested_at" timestamp with time zone,
	"started_at" timestamp with time zone,
	"active_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "parley"."conversation_message" (
	"created_at" timestamp with time zone NOT NULL,
	"id_key" bigint NOT NULL,
	"log" bigint NOT NULL,
	"first_seq" integer NOT NULL,
	"part_count" integer NOT NULL,
	"turn" integer,
	"covers_from" integer,
	"covers_to" integer,
	"id" text COLLATE "C" NOT NULL,
	"role" text NOT NULL,
	"type" text NOT NULL,
	"step" text COLLATE "C",
	"resource_id" text,
	"body_hash" text,
	"content" jsonb NOT NULL,
	CONSTRAINT "conversation_message_place" PRIMARY KEY("log","first_seq")
);
--> statement-breakpoint
CREATE TABLE "parley"."conversation_notice" (
	"owner" text COLLATE "C" NOT NULL,
	"changed_at" bigint NOT NULL,
	"kind" text NOT NULL,
	"data" json NOT NULL,
	"noted_at" timestamp with time zone NOT NULL,
	CONSTRAINT "conversation_notice_change" PRIMARY KEY("owner","changed_at")
);
--> statement-breakpoint
CREATE TABLE "parley"."conversation_turn" (
	"started_at" timestamp with time zone NOT NULL,
	"sealed_at" timestamp with time zone,
	"log" bigint NOT NULL,
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
	"appended" json,
	CONSTRAINT "conversation_turn_order" PRIMARY KEY("log","ordinal")
);
--> statement-breakpoint
CREATE TABLE "parley"."login" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"hash" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"last_used_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "parley"."node" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "parley"."queued_message" (
	"log" bigint NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"rank" integer NOT NULL,
	"mode" text NOT NULL,
	"model" text,
	"effort" text,
	"instructions" text,
	"role" text NOT NULL,
	"type" text NOT NULL,
	"content" jsonb NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"resource_id" text,
	"part_count" integer NOT NULL,
	"queued_at" timestamp with time zone NOT NULL,
	CONSTRAINT "queued_message_id" PRIMARY KEY("log","id")
);
--> statement-breakpoint
CREATE TABLE "parley"."receipt" (
	"log" bigint NOT NULL,
	"message_id" text COLLATE "C" NOT NULL,
	"body_hash" text NOT NULL,
	"outcome" text NOT NULL,
	"turn_id" text COLLATE "C",
	CONSTRAINT "receipt_message" PRIMARY KEY("log","message_id")
);
--> statement-breakpoint
CREATE TABLE "parley"."search_entry" (
	"created_ms" bigint NOT NULL,
	"owner" integer NOT NULL,
	"log" bigint NOT NULL,
	"first_seq" integer NOT NULL,
	"words" "tsvector" NOT NULL,
	CONSTRAINT "search_entry_place" PRIMARY KEY("log","first_seq")
);
--> statement-breakpoint
CREATE TABLE "parley"."search_owner" (
	"number" integer PRIMARY KEY NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"through" bigint DEFAULT 0 NOT NULL,
	"open" bigint[] DEFAULT '{}' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "parley"."turn_journal" (
	"log" bigint NOT NULL,
	"turn" integer NOT NULL,
	"first_n" integer NOT NULL,
	"event_count" integer NOT NULL,
	"epoch" integer NOT NULL,
	"data" text NOT NULL,
	CONSTRAINT "turn_journal_place" PRIMARY KEY("log","turn","first_n")
);
--> statement-breakpoint
ALTER TABLE "parley"."login" ADD CONSTRAINT "login_key_id_api_key_id_fk" FOREIGN KEY ("key_id") REFERENCES "parley"."api_key"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "api_key_hash" ON "parley"."api_key" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "conversation_activity" ON "parley"."conversation" USING btree ("owner","last_activity_at");--> statement-breakpoint
CREATE UNIQUE INDEX "conversation_changes" ON "parley"."conversation" USING btree ("owner","changed_at");--> statement-breakpoint
CREATE INDEX "conversation_children" ON "parley"."conversation" USING btree ("parent") WHERE "parley"."conversation"."parent" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "conversation_name" ON "parley"."conversation" USING btree ("owner","id") WHERE "parley"."conversation"."status" <> 'removed';--> statement-breakpoint
CREATE INDEX "conversation_removed" ON "parley"."conversation" USING btree ("owner","id") WHERE "parley"."conversation"."status" = 'removed';--> statement-breakpoint
CREATE INDEX "conversation_head_stopping" ON "parley"."conversation_head" USING btree ("log") WHERE "parley"."conversation_head"."stop_requested_at" is not null;--> statement-breakpoint
CREATE INDEX "conversation_head_compacting" ON "parley"."conversation_head" USING btree ("log") WHERE "parley"."conversation_head"."compaction_id" is not null;--> statement-breakpoint
CREATE INDEX "conversation_message_id" ON "parley"."conversation_message" USING btree ("id_key");--> statement-breakpoint
CREATE INDEX "conversation_turn_id" ON "parley"."conversation_turn" USING btree (hashtextextended("id", 0));--> statement-breakpoint
CREATE INDEX "conversation_turn_running" ON "parley"."conversation_turn" USING btree ("started_at") WHERE "parley"."conversation_turn"."status" = 'running';--> statement-breakpoint
CREATE UNIQUE INDEX "login_hash" ON "parley"."login" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "login_key" ON "parley"."login" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "login_expiry" ON "parley"."login" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "search_entry_newest" ON "parley"."search_entry" USING btree ("owner","created_ms","first_seq","log");--> statement-breakpoint
CREATE INDEX "search_entry_words" ON "parley"."search_entry" USING gin ("words");--> statement-breakpoint
CREATE UNIQUE INDEX "search_owner_name" ON "parley"."search_owner" USING btree ("owner");
--> statement-breakpoint
-- A head is rewritten by every write of its conversation, a turn by every commit: room in the page keeps those
-- updates from touching an index.
ALTER TABLE "parley"."conversation_head" SET (fillfactor = 50);
--> statement-breakpoint
ALTER TABLE "parley"."conversation_turn" SET (fillfactor = 80);
--> statement-breakpoint
ALTER TABLE "parley"."search_owner" SET (fillfactor = 50);
--> statement-breakpoint
-- Rows of the journal live for a step. What they leave is to be used again soon, however large the table was.
ALTER TABLE "parley"."turn_journal" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
--> statement-breakpoint
-- What waits to be put in order is read by every search, of whomever it is: a megabyte at most. A quarter of that costs
-- half as much again to write, and without any waiting a message of sixty words writes 23 KB instead of 3.4 KB.
ALTER INDEX "parley"."search_entry_words" SET (gin_pending_list_limit = 1024);
--> statement-breakpoint
-- The last number of a change is read without taking one: it has to be one that was given.
SELECT setval('"parley"."conversation_change"', 1, true);
