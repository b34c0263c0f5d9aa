CREATE TABLE "parley"."input_grant" (
	"created_at" timestamp with time zone NOT NULL,
	"log" bigint,
	"owner" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"tool_name" text NOT NULL,
	"tool_hash" text NOT NULL,
	"request_id" text COLLATE "C" NOT NULL,
	"scope" json NOT NULL,
	"actor" json,
	CONSTRAINT "input_grant_id" PRIMARY KEY("owner","id")
);
--> statement-breakpoint
CREATE TABLE "parley"."input_request" (
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone,
	"decided_at" timestamp with time zone,
	"log" bigint NOT NULL,
	"turn" integer NOT NULL,
	"place" integer NOT NULL,
	"logged" boolean DEFAULT false NOT NULL,
	"remember" boolean DEFAULT false NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"request_id" text COLLATE "C" NOT NULL,
	"step" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"tool_call_id" text NOT NULL,
	"tool_name" text NOT NULL,
	"tool_hash" text NOT NULL,
	"arguments_hash" text NOT NULL,
	"arguments_text" text NOT NULL,
	"reason" text,
	"schema" json,
	"response" json,
	CONSTRAINT "input_request_id" PRIMARY KEY("log","request_id")
);
--> statement-breakpoint
ALTER TABLE "parley"."conversation_head" ADD COLUMN "waiting_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "parley"."conversation_turn" ADD COLUMN "tools" json;--> statement-breakpoint
ALTER TABLE "parley"."conversation_turn" ADD COLUMN "waited_ms" double precision DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "parley"."queued_message" ADD COLUMN "tools" json;--> statement-breakpoint
CREATE INDEX "input_grant_log" ON "parley"."input_grant" USING btree ("log") WHERE "parley"."input_grant"."log" is not null;--> statement-breakpoint
CREATE INDEX "input_request_turn" ON "parley"."input_request" USING btree ("log","turn");--> statement-breakpoint
CREATE INDEX "input_request_pending" ON "parley"."input_request" USING btree ("owner","created_at") WHERE "parley"."input_request"."response" is null;--> statement-breakpoint
CREATE INDEX "input_request_expiry" ON "parley"."input_request" USING btree ("expires_at") WHERE "parley"."input_request"."response" is null and "parley"."input_request"."expires_at" is not null;