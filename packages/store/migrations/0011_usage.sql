CREATE TABLE "parley"."usage_sum" (
	"log" bigint NOT NULL,
	"day" integer NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"model" text COLLATE "C" NOT NULL,
	"currency" text COLLATE "C" NOT NULL,
	"calls" numeric NOT NULL,
	"unknown_calls" numeric NOT NULL,
	"input_tokens" numeric NOT NULL,
	"output_tokens" numeric NOT NULL,
	"cache_read_tokens" numeric NOT NULL,
	"cache_write_tokens" numeric NOT NULL,
	"reasoning_tokens" numeric NOT NULL,
	"billed" numeric NOT NULL,
	"estimated" numeric NOT NULL,
	CONSTRAINT "usage_sum_place" PRIMARY KEY("owner","day","log","model","currency")
);
