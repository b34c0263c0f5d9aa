CREATE SEQUENCE "parley"."blob_number" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "parley"."blob" (
	"number" bigint PRIMARY KEY NOT NULL,
	"size" bigint DEFAULT 0 NOT NULL,
	"check_at" timestamp with time zone,
	"owner" text COLLATE "C" NOT NULL,
	"hash" text COLLATE "C"
);
--> statement-breakpoint
CREATE TABLE "parley"."blob_piece" (
	"blob" bigint NOT NULL,
	"n" integer NOT NULL,
	"data" "bytea" NOT NULL,
	CONSTRAINT "blob_piece_place" PRIMARY KEY("blob","n")
);
--> statement-breakpoint
CREATE TABLE "parley"."blob_ref" (
	"log" bigint NOT NULL,
	"blob" bigint NOT NULL,
	"seq" integer NOT NULL,
	"part" smallint DEFAULT 0 NOT NULL,
	"queued" text COLLATE "C" DEFAULT '' NOT NULL,
	CONSTRAINT "blob_ref_place" PRIMARY KEY("log","queued","seq","part")
);
--> statement-breakpoint
CREATE TABLE "parley"."file_owner" (
	"owner" text COLLATE "C" PRIMARY KEY NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"secret" text
);
--> statement-breakpoint
CREATE TABLE "parley"."upload" (
	"expires_at" timestamp with time zone NOT NULL,
	"blob" bigint NOT NULL,
	"is_finished" boolean DEFAULT false NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"name" text DEFAULT '' NOT NULL,
	"media_type" text DEFAULT '' NOT NULL,
	CONSTRAINT "upload_id" PRIMARY KEY("owner","id")
);
--> statement-breakpoint
ALTER TABLE "parley"."blob_piece" ALTER COLUMN "data" SET STORAGE EXTERNAL;--> statement-breakpoint
ALTER TABLE "parley"."blob_piece" ADD CONSTRAINT "blob_piece_blob_blob_number_fk" FOREIGN KEY ("blob") REFERENCES "parley"."blob"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "parley"."blob_ref" ADD CONSTRAINT "blob_ref_blob_blob_number_fk" FOREIGN KEY ("blob") REFERENCES "parley"."blob"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "parley"."upload" ADD CONSTRAINT "upload_blob_blob_number_fk" FOREIGN KEY ("blob") REFERENCES "parley"."blob"("number") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "blob_hash" ON "parley"."blob" USING btree ("owner","hash") WHERE "parley"."blob"."hash" is not null;--> statement-breakpoint
CREATE INDEX "blob_due" ON "parley"."blob" USING btree ("check_at") WHERE "parley"."blob"."check_at" is not null;--> statement-breakpoint
CREATE INDEX "blob_ref_blob" ON "parley"."blob_ref" USING btree ("blob");--> statement-breakpoint
CREATE INDEX "upload_blob" ON "parley"."upload" USING btree ("blob");