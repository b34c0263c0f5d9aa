ALTER TABLE "parley"."conversation_turn" ADD COLUMN "other_choices" json;--> statement-breakpoint
ALTER TABLE "parley"."queued_message" ADD COLUMN "other_choices" json;