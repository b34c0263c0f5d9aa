import type { MessageContentPart } from "@parley/core/messages";
import type { ProviderMessage } from "@parley/core/ports";
import type { OpenAIInputContent, OpenAIInputMessage, OpenAIRole } from "./create-response.js";

/**
 * Provider messages as input messages. Roles stay as they are, except that the hint `developer` in a message's
 * metadata makes an instruction one of the developer. Parts pass as they are; lowering knows them.
 */
export function toInputMessages(messages: readonly ProviderMessage[]): OpenAIInputMessage[] {
  return messages.map(({ role, content, origin, metadata }) => ({
    role: roleOf(role, metadata),
    content: content as Record<string, unknown>[],
    ...(origin === undefined ? {} : { origin }),
  }));
}

function roleOf(role: OpenAIRole, metadata: Record<string, unknown> | undefined): OpenAIRole {
  return role === "system" && metadata?.role === "developer" ? "developer" : role;
}

/** Input messages as provider messages, with the API's own parts read as Parley's where there is one. */
export function fromInputMessages(input: OpenAIInputMessage | OpenAIInputMessage[]): ProviderMessage[] {
  return (Array.isArray(input) ? input : [input]).map(({ role, content, origin }) => ({
    role: role === "developer" ? "system" : role,
    content: partsOf(content),
    ...(origin === undefined ? {} : { origin }),
    ...(role === "developer" ? { metadata: { role: "developer" } } : {}),
  }));
}

function partsOf(content: OpenAIInputContent): ProviderMessage["content"] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return (Array.isArray(content) ? content : [content]).map((part) =>
    ownPart(part as Record<string, unknown>),
  );
}

function ownPart(part: Record<string, unknown>): ProviderMessage["content"][number] {
  switch (part.type) {
    case "input_text":
    case "output_text":
      return { type: "text", text: typeof part.text === "string" ? part.text : "" };
    case "refusal":
      return { type: "text", text: typeof part.refusal === "string" ? part.refusal : "" };
    case "input_image":
    case "input_file":
    case "input_audio":
      return nativePart(part);
    default:
      return part;
  }
}

/** A part in the API's own form, wrapped so that it passes through everything that only knows Parley's. */
function nativePart(part: Record<string, unknown>): MessageContentPart {
  return {
    type: "metadata",
    data: null,
    providerMetadata: { openai: { content: JSON.stringify(part) } },
  };
}
