ALTER TABLE "parley"."conversation" ADD COLUMN "jump" bigint;--> statement-breakpoint
ALTER TABLE "parley"."conversation" ADD COLUMN "jump_seq" integer;--> statement-breakpoint
ALTER TABLE "parley"."conversation" ADD COLUMN "depth" integer;--> statement-breakpoint
ALTER TABLE "parley"."conversation" ADD COLUMN "imported_parent" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "parley"."conversation" ADD COLUMN "imported_parent_seq" integer;--> statement-breakpoint
CREATE INDEX "conversation_imported_children" ON "parley"."conversation" USING btree ("owner","imported_parent") WHERE "parley"."conversation"."imported_parent" is not null;