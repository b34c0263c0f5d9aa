import { z } from "@hono/zod-openapi";
import { invalidField } from "@parley/core/errors";
import type { FileContentPart, MessageContentPart } from "@parley/core/messages";
import type { CallerTool } from "@parley/wire";
import { validate } from "../../http/validate.js";
import { callerTool } from "../../schemas/input.js";
import { id, jsonObject, reasoningEffort } from "../../schemas/scalars.js";
import { fileAddressOf, foreignAddress } from "../file-address.js";
import { userMetadataType } from "./history.js";

const uiPart = z.looseObject({ type: z.string().max(200) });

const uiMessage = z
  .object({
    id,
    role: z.enum(
      ["user", "assistant"],
      'expected "user" or "assistant": the server has its own instructions',
    ),
    parts: z.array(uiPart).max(10_000),
    metadata: jsonObject.optional(),
  })
  .openapi("UiMessage");

/** The tools of a page: a list, or by name with `parameters`, as assistant-ui sends them. */
const pageTools = z.union([
  z.array(callerTool).max(128),
  z.record(
    z.string(),
    z.object({ description: z.string().max(10_000).optional(), parameters: jsonObject.optional() }),
  ),
]);

export const chatRequest = z
  .object({
    id: id.openapi({ description: "The chat's id, chosen by the page" }),
    messages: z
      .array(z.unknown())
      .optional()
      .openapi({ description: "Only the last one is read: the log has the others" }),
    message: uiMessage.optional().openapi({ description: "The last message alone" }),
    trigger: z.enum(["submit-message", "regenerate-message"]).optional(),
    messageId: z.string().max(128).optional(),
    model: z.string().optional(),
    reasoningEffort: reasoningEffort.optional(),
    instructions: z.string().optional(),
    system: z.string().optional().openapi({ description: "As `instructions`" }),
    ifBusy: z.enum(["reject", "queue", "steer"]).optional(),
    whenWaiting: z.enum(["queue", "deny"]).optional().openapi({ description: "Default `deny`" }),
    tools: pageTools.optional(),
  })
  .openapi("UiChatRequest");

export type ChatRequest = z.output<typeof chatRequest>;
export type SentMessage = z.output<typeof uiMessage>;

/** Returns the one message of a request that counts: the last. */
export function lastMessage({ messages, message }: ChatRequest): SentMessage {
  if (message !== undefined) return message;
  const last = messages?.at(-1);
  if (last === undefined) throw invalidField("messages", "must not be empty");
  return validate(z.object({ messages: z.tuple([uiMessage]) }), { messages: [last] }).messages[0];
}

/**
 * Returns the content of a user's message for the log. A file comes as a data URL, or as the address under which this
 * server serves it. A message without text and files is refused.
 */
export function contentOf({ parts, metadata }: SentMessage): MessageContentPart[] {
  const content: MessageContentPart[] = [];
  for (const [index, part] of parts.entries()) {
    const field = `messages.parts.${index}`;
    if (part.type === "text") {
      if (typeof part.text !== "string") throw invalidField(`${field}.text`, "expected a string");
      content.push({ type: "text", text: part.text });
    } else if (part.type === "file") {
      content.push(fileOf(part, field));
    } else if (part.type.startsWith("data-")) {
      content.push({ type: "metadata", data: part });
    } else {
      throw invalidField(`${field}.type`, `a user's message holds text, files and data, not "${part.type}"`);
    }
  }
  const hasSomething = content.some(
    (part) => part.type === "file" || (part.type === "text" && part.text.trim() !== ""),
  );
  if (!hasSomething) throw invalidField("messages", "the last message has neither text nor files");
  if (metadata !== undefined) {
    content.push({ type: "metadata", data: { type: userMetadataType, metadata } });
  }
  return content;
}

function fileOf({ url, mediaType, filename }: SentMessage["parts"][number], field: string): FileContentPart {
  if (typeof url !== "string") throw invalidField(`${field}.url`, "expected a string");
  const address = fileAddressOf(url);
  if (address === undefined) throw invalidField(`${field}.url`, foreignAddress);
  return {
    type: "file",
    mediaType: typeof mediaType === "string" ? mediaType : "",
    ...address,
    ...(typeof filename === "string" && filename !== "" ? { filename } : {}),
  };
}

/** Returns the page's tools in Parley's form. */
export function toolsOf({ tools }: ChatRequest): readonly CallerTool[] | undefined {
  if (tools === undefined) return undefined;
  if (Array.isArray(tools)) return tools.length === 0 ? undefined : tools;
  const listed = Object.entries(tools).map(([name, { description, parameters: schema }]) => ({
    name,
    ...(description === undefined ? {} : { description }),
    ...(schema === undefined ? {} : { schema }),
  }));
  return listed.length === 0 ? undefined : listed;
}
