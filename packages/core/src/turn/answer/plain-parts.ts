import { argumentsFromText, type MessageContentPart } from "../../messages/part.js";
import { isPlain } from "../../plain-data.js";

/** Maximum length in characters of JSON of a provider's raw response that is kept. */
const maxRawLength = 1_000_000;

/**
 * Returns a model's parts in a form that every store can keep: data that is not plain is dropped, the text and the
 * calls stay. An adapter that puts a bigint or a Date into a part's metadata must not cost the answer.
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

/**
 * Returns a provider's raw response, if it can be kept: it is a copy for people, and must not prevent the end of a
 * turn.
 */
export function keptRaw(raw: unknown): { raw?: unknown } {
  if (raw === undefined || !isPlain(raw)) return {};
  return JSON.stringify(raw).length > maxRawLength ? {} : { raw };
}
