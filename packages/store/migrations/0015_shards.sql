CREATE TABLE "parley"."owner_shard" (
	"owner" text COLLATE "C" PRIMARY KEY NOT NULL,
	"shard" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "parley"."shard" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"number" integer NOT NULL,
	"home" text NOT NULL,
	CONSTRAINT "shard_number_unique" UNIQUE("number")
);
--> statement-breakpoint
CREATE TABLE "parley"."shard_owner" (
	"owner" text COLLATE "C" PRIMARY KEY NOT NULL,
	"state" text NOT NULL,
	"peer" text
);
