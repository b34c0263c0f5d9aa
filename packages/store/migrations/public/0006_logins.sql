CREATE TABLE "login" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"hash" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"last_used_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "login" ADD CONSTRAINT "login_key_id_api_key_id_fk" FOREIGN KEY ("key_id") REFERENCES "api_key"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "login_hash" ON "login" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "login_key" ON "login" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "login_expiry" ON "login" USING btree ("expires_at");