ALTER TABLE "parley"."conversation_message" ADD COLUMN "tokens" integer;--> statement-breakpoint
ALTER TABLE "parley"."conversation_message" ADD COLUMN "token_rule" smallint;