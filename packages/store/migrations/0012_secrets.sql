CREATE TABLE "parley"."secret" (
	"created_at" timestamp with time zone NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"version" text NOT NULL,
	"facts" jsonb NOT NULL,
	"sealed" text NOT NULL,
	CONSTRAINT "secret_name" PRIMARY KEY("owner","kind","name")
);
--> statement-breakpoint
CREATE TABLE "parley"."secret_hold" (
	"until" timestamp with time zone NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"kind" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"holder" text NOT NULL,
	CONSTRAINT "secret_hold_name" PRIMARY KEY("owner","kind","name")
);
