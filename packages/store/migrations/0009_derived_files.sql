CREATE TABLE "parley"."derived_file" (
	"blob" bigint NOT NULL,
	"variant" text NOT NULL,
	"data" "bytea" NOT NULL,
	CONSTRAINT "derived_file_place" PRIMARY KEY("blob","variant")
);
--> statement-breakpoint
ALTER TABLE "parley"."derived_file" ADD CONSTRAINT "derived_file_blob_blob_number_fk" FOREIGN KEY ("blob") REFERENCES "parley"."blob"("number") ON DELETE no action ON UPDATE no action;