CREATE TABLE "parley"."removed_blob" (
	"number" bigint PRIMARY KEY NOT NULL,
	"pieces" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "parley"."store_identity" (
	"single" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"id" text NOT NULL
);
