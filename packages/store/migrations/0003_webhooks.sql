CREATE TABLE "parley"."outbox" (
	"created_at" timestamp with time zone NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"attempted_at" timestamp with time zone,
	"number" bigint NOT NULL,
	"log" bigint NOT NULL,
	"place" integer NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"fence" integer DEFAULT 0 NOT NULL,
	"status" integer,
	"owner" text COLLATE "C" NOT NULL,
	"webhook" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"type" text NOT NULL,
	"state" text NOT NULL,
	"error" text,
	"data" json NOT NULL,
	CONSTRAINT "outbox_place" PRIMARY KEY("owner","webhook","number","place")
);
--> statement-breakpoint
CREATE TABLE "parley"."webhook" (
	"created_at" timestamp with time zone NOT NULL,
	"disabled_at" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"url" text NOT NULL,
	"label" text NOT NULL,
	"events" text[] NOT NULL,
	"secret" text NOT NULL,
	"disabled_reason" text,
	CONSTRAINT "webhook_id" PRIMARY KEY("owner","id")
);
--> statement-breakpoint
CREATE INDEX "outbox_due" ON "parley"."outbox" USING btree ("owner","webhook","due_at") WHERE "parley"."outbox"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "outbox_log" ON "parley"."outbox" USING btree ("log","webhook","state","number","place");--> statement-breakpoint
CREATE INDEX "outbox_settled" ON "parley"."outbox" USING btree ("due_at") WHERE "parley"."outbox"."state" <> 'pending';