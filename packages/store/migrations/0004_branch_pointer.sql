CREATE TABLE "parley"."branch_pointer" (
	"log" bigint NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"chat_id" text COLLATE "C" NOT NULL,
	CONSTRAINT "branch_pointer_chat" PRIMARY KEY("owner","chat_id")
);
--> statement-breakpoint
CREATE INDEX "branch_pointer_log" ON "parley"."branch_pointer" USING btree ("log");