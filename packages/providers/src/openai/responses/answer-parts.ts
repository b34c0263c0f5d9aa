import type { MessageContentPart } from "@parley/core/messages";
import type { ProviderFinishReason, ProviderToolCall } from "@parley/core/ports";
import type { Annotation, OutputItem, ResponseBody } from "./api-types.js";
import { keepItem } from "./kept-item.js";

/** Returns the texts of parts that have one. */
export function textsOf(parts: readonly { readonly text?: string }[] | null | undefined): string[] {
  return (parts ?? []).flatMap(({ text }) => (typeof text === "string" && text !== "" ? [text] : []));
}

/** Returns true if a part has nothing to show and nothing to send back. */
export function isEmpty(part: MessageContentPart): boolean {
  if (part.type === "text") return part.text === "";
  return (
    part.type === "reasoning" &&
    part.text === "" &&
    part.providerMetadata?.openai?.encryptedContent === undefined
  );
}

/** Converts a call's part to the call. */
export function toolCallOf(part: Extract<MessageContentPart, { type: "tool-call" }>): ProviderToolCall {
  const { toolCallId = "", name, arguments: value, argumentsText = "" } = part;
  return { id: toolCallId, name, arguments: value, argumentsText };
}

/** Returns the parts with the answer's id on the last. */
export function marked(content: MessageContentPart[], responseId: string | undefined): MessageContentPart[] {
  const last = content.at(-1);
  if (last === undefined || responseId === undefined) return content;
  const openai = { ...last.providerMetadata?.openai, responseId };
  return [...content.slice(0, -1), { ...last, providerMetadata: { ...last.providerMetadata, openai } }];
}

/** Returns the sources that a text cites, each once. */
export function sourceParts(annotations: readonly Annotation[]): MessageContentPart[] {
  const seen = new Set<string>();
  const parts: MessageContentPart[] = [];
  for (const { type, url, title } of annotations) {
    if (type !== "url_citation" || typeof url !== "string" || seen.has(url)) continue;
    seen.add(url);
    parts.push({ type: "source", url, ...(typeof title === "string" ? { title } : {}) });
  }
  return parts;
}

/**
 * Returns the part for an item without its own form: a file if it is an image, otherwise kept whole and never
 * shown.
 */
export function opaquePart(item: OutputItem, type: string): MessageContentPart {
  if (item.type === "image_generation_call" && typeof item.result === "string" && item.result !== "") {
    const { result, ...rest } = item;
    return {
      type: "file",
      mediaType: `image/${item.output_format ?? "png"}`,
      data: result,
      ...keepItem(rest),
    };
  }
  return { type: "metadata", data: { type }, ...keepItem(item) };
}

/** Returns why an answer of this status ended, with this many calls in it. */
export function finishReasonOf(
  response: ResponseBody,
  { status, calls, refused }: { status: string; calls: number; refused: boolean },
): ProviderFinishReason {
  if (status === "incomplete") {
    const reason = response.incomplete_details?.reason;
    if (reason === "content_filter") return "content-filter";
    // Ended on purpose, and not by a limit. Any other reason, or none, means a limit.
    return reason === "steered" || reason === "max_messages" ? "other" : "length";
  }
  if (calls > 0) return "tool-calls";
  return refused ? "content-filter" : "stop";
}
