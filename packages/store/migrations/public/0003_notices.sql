CREATE TABLE "conversation_notice" (
	"owner" text COLLATE "C" NOT NULL,
	"changed_at" bigint NOT NULL,
	"kind" text NOT NULL,
	"data" json NOT NULL,
	"noted_at" timestamp with time zone NOT NULL,
	CONSTRAINT "conversation_notice_change" PRIMARY KEY("owner","changed_at")
);
