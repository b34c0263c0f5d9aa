import type { MessageContentPart, ReasoningContentPart } from "@parley/core/messages";
import type { ProviderMetadata } from "@parley/wire";
import { isWellFormed } from "../call/well-formed.js";
import type { OpaqueBlock, RedactedThinkingBlock, ThinkingBlock } from "./api-types.js";

const key = "anthropic";

/** Returns the metadata of reasoning that the API signed. */
export function keepSignature(signature: string): { providerMetadata?: ProviderMetadata } {
  return signature === "" ? {} : { providerMetadata: { [key]: { signature } } };
}

/** Returns the metadata of reasoning that the API has redacted. */
export function keepRedacted(data: string): { providerMetadata?: ProviderMetadata } {
  return { providerMetadata: { [key]: { redactedData: data } } };
}

/**
 * Returns the metadata of a block without another form. Kept as text: a database may reorder keys and
 * reformat numbers.
 */
export function keepBlock(block: OpaqueBlock): { providerMetadata?: ProviderMetadata } {
  return { providerMetadata: { [key]: { block: JSON.stringify(block) } } };
}

/**
 * Returns reasoning as the API made it, or undefined if it cannot be sent: the API signs its reasoning and
 * refuses it without the signature, or changed.
 */
export function replayedThinking(
  part: ReasoningContentPart,
): ThinkingBlock | RedactedThinkingBlock | undefined {
  const { signature, redactedData } = part.providerMetadata?.[key] ?? {};
  if (typeof redactedData === "string" && redactedData !== "" && isWellFormed(redactedData)) {
    return { type: "redacted_thinking", data: redactedData };
  }
  if (typeof signature !== "string" || signature === "") return undefined;
  if (!isWellFormed(part.text) || !isWellFormed(signature)) return undefined;
  return { type: "thinking", thinking: part.text, signature };
}

// Types that the lowering itself creates are never taken from elsewhere, which would bypass its rules.
const ownTypes = new Set([
  "text",
  "image",
  "document",
  "thinking",
  "redacted_thinking",
  "tool_use",
  "tool_result",
]);

/**
 * Returns a block that only the API understands, unchanged; undefined if there is none that could be sent.
 */
export function replayedBlock(part: MessageContentPart): OpaqueBlock | undefined {
  const text = part.providerMetadata?.[key]?.block;
  if (typeof text !== "string") return undefined;
  try {
    const block = JSON.parse(text) as unknown;
    if (typeof block !== "object" || block === null || Array.isArray(block)) return undefined;
    const { type } = block as { type?: unknown };
    if (typeof type !== "string" || type === "" || ownTypes.has(type)) return undefined;
    return isWellFormed(block) ? (block as OpaqueBlock) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the content without uses of the API's own tools that have no result and results that have no use:
 * an answer that was cut between the two would be refused in every later request.
 */
export function withoutHalves<Block extends { readonly type: string }>(content: readonly Block[]): Block[] {
  const used = new Set<string>();
  const answered = new Set<string>();
  for (const block of content) {
    const use = useOf(block);
    const answer = answerOf(block);
    if (use !== undefined) used.add(use);
    else if (answer !== undefined && used.has(answer)) answered.add(answer);
  }
  const seen = new Set<string>();
  return content.filter((block) => {
    const use = useOf(block);
    const answer = answerOf(block);
    if (use === undefined && answer === undefined) return true;
    const place = use === undefined ? `answer ${answer}` : `use ${use}`;
    if (seen.has(place) || !answered.has(use ?? answer ?? "")) return false;
    if (use === undefined && !seen.has(`use ${answer}`)) return false;
    seen.add(place);
    return true;
  });
}

/** Returns the id of a use of one of the API's own tools. */
function useOf(block: { readonly type: string }): string | undefined {
  if (block.type === "tool_use" || !block.type.endsWith("_tool_use")) return undefined;
  return String((block as { id?: unknown }).id);
}

/** Returns the id of the use that a block answers, for results of the API's own tools. */
function answerOf(block: { readonly type: string }): string | undefined {
  if (block.type === "tool_result" || !block.type.endsWith("_tool_result")) return undefined;
  return String((block as { tool_use_id?: unknown }).tool_use_id);
}
