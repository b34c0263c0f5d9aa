import { argumentsFromText, type MessageContentPart } from "../../messages/part.js";
import { isPlain } from "../../plain-data.js";

/** A provider's raw response is kept up to so many characters of JSON. */
const maxRawLength = 1_000_000;

/**
 * A model's parts as every store can keep them: what is not plain data goes, the text and the calls stay. An adapter
 * that puts a bigint or a Date into a part's metadata must not cost the answer.
 */
export function plainParts(parts: MessageContentPart[]): MessageContentPart[] {
  return parts.every(isPlain) ? parts : parts.flatMap((part) => plainPart(part) ?? []);
}

function plainPart(part: MessageContentPart): MessageContentPart | undefined {
  if (isPlain(part)) return part;
  const { providerMetadata: _, ...bare } = part;
  if (isPlain(bare)) return bare;
  if (part.type === "text" || part.type === "reasoning") {
    return typeof part.text === "string" ? { type: part.type, text: part.text } : undefined;
  }
  if (part.type !== "tool-call" || typeof part.argumentsText !== "string") return undefined;
  const { type, name, toolCallId, argumentsText } = part;
  const call = { type, name, arguments: argumentsFromText(argumentsText), argumentsText };
  return toolCallId === undefined ? call : { ...call, toolCallId };
}

/** A provider's raw response, if it can be kept: it is a copy for people, and must not keep a turn from its end. */
export function keptRaw(raw: unknown): { raw?: unknown } {
  if (raw === undefined || !isPlain(raw)) return {};
  return JSON.stringify(raw).length > maxRawLength ? {} : { raw };
}
