CREATE TABLE "api_key" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"hash" text NOT NULL,
	"prefix" text NOT NULL,
	"scopes" text[] NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"last_used_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "compaction" (
	"conversation_id" text COLLATE "C" NOT NULL,
	"seq" integer NOT NULL,
	"kind" text NOT NULL,
	"from_seq" integer,
	"to_seq" integer,
	"archive_id" text COLLATE "C",
	CONSTRAINT "compaction_entry" PRIMARY KEY("conversation_id","seq","kind")
);
--> statement-breakpoint
CREATE TABLE "conversation" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"title" text NOT NULL,
	"status" text NOT NULL,
	"model" text,
	"effort" text,
	"instructions" text,
	"compact_threshold" double precision,
	"queue_paused" boolean DEFAULT false NOT NULL,
	"metadata" jsonb,
	"parent_id" text COLLATE "C",
	"parent_seq" integer,
	"archive_of" text COLLATE "C",
	"compacted_from" text COLLATE "C",
	"context_size" double precision,
	"created_at" timestamp with time zone NOT NULL,
	"last_activity_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	"changed_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "conversation_head" (
	"conversation_id" text COLLATE "C" PRIMARY KEY NOT NULL,
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
CREATE TABLE "conversation_message" (
	"id" text COLLATE "C" NOT NULL,
	"thread_id" text COLLATE "C" NOT NULL,
	"role" text NOT NULL,
	"type" text NOT NULL,
	"content" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"resource_id" text,
	"first_seq" integer NOT NULL,
	"part_count" integer NOT NULL,
	"turn_id" text COLLATE "C",
	"step" text COLLATE "C",
	"covers_from" integer,
	"covers_to" integer,
	CONSTRAINT "conversation_message_place" PRIMARY KEY("thread_id","first_seq")
);
--> statement-breakpoint
CREATE TABLE "conversation_turn" (
	"conversation_id" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"ordinal" integer NOT NULL,
	"status" text NOT NULL,
	"reason" text,
	"model" text,
	"effort" text,
	"instructions" text,
	"first_seq" integer NOT NULL,
	"last_seq" integer NOT NULL,
	"steps" json,
	"metrics" json,
	"provider_calls" json,
	"started_at" timestamp with time zone NOT NULL,
	"sealed_at" timestamp with time zone,
	"sealed_fence" integer,
	"next_turn_id" text COLLATE "C",
	"appended" json,
	CONSTRAINT "conversation_turn_id" PRIMARY KEY("id","conversation_id")
);
--> statement-breakpoint
CREATE TABLE "node" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "queued_message" (
	"conversation_id" text COLLATE "C" NOT NULL,
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
	CONSTRAINT "queued_message_id" PRIMARY KEY("conversation_id","id")
);
--> statement-breakpoint
CREATE TABLE "receipt" (
	"conversation_id" text COLLATE "C" NOT NULL,
	"message_id" text COLLATE "C" NOT NULL,
	"body_hash" text NOT NULL,
	"outcome" text NOT NULL,
	"turn_id" text COLLATE "C",
	CONSTRAINT "receipt_message" PRIMARY KEY("conversation_id","message_id")
);
--> statement-breakpoint
CREATE TABLE "turn_journal" (
	"conversation_id" text COLLATE "C" NOT NULL,
	"turn_id" text COLLATE "C" NOT NULL,
	"first_n" integer NOT NULL,
	"event_count" integer NOT NULL,
	"epoch" integer NOT NULL,
	"data" text NOT NULL,
	CONSTRAINT "turn_journal_place" PRIMARY KEY("conversation_id","turn_id","first_n")
);
--> statement-breakpoint
CREATE UNIQUE INDEX "api_key_hash" ON "api_key" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "conversation_activity" ON "conversation" USING btree ("owner","last_activity_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "conversation_changes" ON "conversation" USING btree ("owner","changed_at");--> statement-breakpoint
CREATE INDEX "conversation_children" ON "conversation" USING btree ("parent_id") WHERE "conversation"."parent_id" is not null;--> statement-breakpoint
CREATE INDEX "conversation_head_stopping" ON "conversation_head" USING btree ("conversation_id") WHERE "conversation_head"."stop_requested_at" is not null;--> statement-breakpoint
CREATE INDEX "conversation_head_compacting" ON "conversation_head" USING btree ("conversation_id") WHERE "conversation_head"."compaction_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "conversation_message_id" ON "conversation_message" USING btree ("id","thread_id");--> statement-breakpoint
CREATE INDEX "conversation_message_words" ON "conversation_message" USING gin (message_words("content"));--> statement-breakpoint
CREATE INDEX "conversation_turn_order" ON "conversation_turn" USING btree ("conversation_id","ordinal");--> statement-breakpoint
CREATE INDEX "conversation_turn_running" ON "conversation_turn" USING btree ("started_at") WHERE "conversation_turn"."status" = 'running';