import { z } from "@hono/zod-openapi";

/** At most 16 short pairs. */
const metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((pairs) => Object.keys(pairs).length <= 16, "at most 16 pairs");

const anything = z.object({}).loose();
const item = anything.openapi({ description: "An input item, or an item of an earlier response" });

export const createResponseBody = z
  .object({
    model: z.string().min(1).max(256).nullish(),
    input: z.union([z.string(), z.array(item).max(10_000)]).nullish(),
    instructions: z.string().nullish(),
    stream: z.boolean().nullish(),
    store: z.boolean().nullish(),
    background: z.boolean().nullish(),
    previous_response_id: z.string().max(256).nullish(),
    conversation: z.union([z.string().max(256), z.object({ id: z.string().max(256) })]).nullish(),
    tools: z.array(anything).max(128).nullish(),
    tool_choice: z.unknown().optional(),
    parallel_tool_calls: z.boolean().nullish(),
    text: z.object({ format: anything.nullish() }).loose().nullish(),
    reasoning: z.object({ effort: z.string().nullish() }).loose().nullish(),
    max_output_tokens: z.number().int().min(1).nullish(),
    metadata: metadata.nullish(),
    temperature: z.number().nullish(),
    top_p: z.number().nullish(),
    truncation: z.string().nullish(),
    user: z.string().max(512).nullish(),
  })
  .openapi("OpenAIResponseRequest");

export type CreateResponseBody = z.infer<typeof createResponseBody>;

export const responseAnswer = z
  .object({ id: z.string(), object: z.literal("response"), status: z.string() })
  .loose()
  .openapi("OpenAIResponse");

export const streamFlags = z.object({
  stream: z.enum(["true", "false"]).optional(),
  starting_after: z
    .string()
    .regex(/^\d{1,16}$/)
    .optional(),
});

export const listQuery = z.object({
  order: z.enum(["asc", "desc"]).optional(),
  limit: z
    .string()
    .regex(/^\d{1,3}$/)
    .optional(),
  after: z.string().max(256).optional(),
});

export const idParams = z.object({ id: z.string().min(1).max(256) });
export const itemParams = z.object({ id: z.string().min(1).max(256), item: z.string().min(1).max(256) });

export const deletedAnswer = z.object({ id: z.string(), object: z.string(), deleted: z.literal(true) });
export const listAnswer = z
  .object({
    object: z.literal("list"),
    data: z.array(anything),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .openapi("OpenAIList");

export const conversationBody = z
  .object({ items: z.array(item).max(20).nullish(), metadata: metadata.nullish() })
  .openapi("OpenAIConversationRequest");
export const conversationUpdate = z.object({ metadata: metadata.nullable() });
export const itemsBody = z.object({ items: z.array(item).min(1).max(20) });
export const conversationAnswer = z
  .object({
    id: z.string(),
    object: z.literal("conversation"),
    created_at: z.number(),
    metadata: z.record(z.string(), z.string()),
  })
  .openapi("OpenAIConversation");
export const itemAnswer = anything.openapi("OpenAIItem");

export const chatBody = z
  .object({
    model: z.string().min(1).max(256).nullish(),
    messages: z.array(anything).min(1).max(10_000),
    stream: z.boolean().nullish(),
    stream_options: z.object({ include_usage: z.boolean().nullish() }).loose().nullish(),
    tools: z.array(anything).max(128).nullish(),
    tool_choice: z.unknown().optional(),
    response_format: anything.nullish(),
    reasoning_effort: z.string().nullish(),
    max_tokens: z.number().int().min(1).nullish(),
    max_completion_tokens: z.number().int().min(1).nullish(),
  })
  .openapi("OpenAIChatRequest");

export type ChatBody = z.infer<typeof chatBody>;

export const chatAnswer = z
  .object({ id: z.string(), object: z.string() })
  .loose()
  .openapi("OpenAIChatCompletion");

export const model = z
  .object({ id: z.string(), object: z.literal("model"), created: z.number(), owned_by: z.string() })
  .openapi("OpenAIModel");
export const modelsAnswer = z.object({ object: z.literal("list"), data: z.array(model) });
