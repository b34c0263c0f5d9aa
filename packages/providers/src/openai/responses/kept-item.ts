import type { MessageContentPart, ReasoningContentPart } from "@parley/core/messages";
import { omitUndefined } from "@parley/core/messages";
import type { JsonObject, ProviderMetadata } from "@parley/wire";
import { isWellFormed, wellFormed } from "../../call/well-formed.js";
import type { AssistantItem, OpaqueItem, OutputItem, ReasoningItem } from "./api-types.js";

/** Data of an API item that Parley keeps on the item's part, to send it back. */
export interface KeptItem {
  readonly id?: string;
  readonly phase?: NonNullable<AssistantItem["phase"]>;
  readonly refusal?: boolean;
  readonly namespace?: string;
  /** A whole item without another form. Kept as text: a database may reorder keys and reformat numbers. */
  readonly item?: OpaqueItem;
}

const key = "openai";
/** Separates the summaries of one reasoning item where they are shown as one text. */
export const summarySeparator = "\n\n";

/** Returns the defined fields as a part's metadata; nothing if there are none. */
export function keep(fields: Record<string, string | number | boolean | number[] | undefined>): {
  providerMetadata?: ProviderMetadata;
} {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  if (known.length === 0) return {};
  return { providerMetadata: { [key]: Object.fromEntries(known) as JsonObject } };
}

/** Reads the data kept on a part, each field only if it is valid. */
export function readKept(part: MessageContentPart): KeptItem | undefined {
  const fields = part.providerMetadata?.[key];
  if (typeof fields !== "object" || fields === null) return undefined;
  const { id, phase, refusal, namespace, item } = fields;
  const whole = parseItem(item);
  return {
    ...(isId(id) ? { id } : {}),
    ...(phase === "commentary" || phase === "final_answer" ? { phase } : {}),
    ...(refusal === true ? { refusal } : {}),
    ...(isId(namespace) ? { namespace } : {}),
    ...omitUndefined({ item: whole }),
  };
}

/** Returns reasoning as the API made it; undefined if that can no longer be determined. */
export function replayedReasoning(part: ReasoningContentPart): ReasoningItem | undefined {
  const fields = part.providerMetadata?.[key];
  const { id, encryptedContent, summaryLengths } = fields ?? {};
  if (!isId(id) || !isId(encryptedContent)) return undefined;
  return {
    type: "reasoning",
    id,
    encrypted_content: encryptedContent,
    summary: splitSummary(part.text, summaryLengths).map((text) => ({
      type: "summary_text",
      text: wellFormed(text),
    })),
  };
}

function splitSummary(text: string, lengths: unknown): string[] {
  if (text === "") return [];
  if (!Array.isArray(lengths) || !lengths.every((length) => Number.isSafeInteger(length) && length >= 0)) {
    return [text];
  }
  const summaries: string[] = [];
  let at = 0;
  for (const length of lengths as number[]) {
    summaries.push(text.slice(at, at + length));
    at += length + summarySeparator.length;
  }
  return summaries.join(summarySeparator) === text ? summaries : [text];
}

// The API refuses these without an output that only their own tools could have produced.
const needsOutput = new Set([
  "custom_tool_call",
  "computer_call",
  "local_shell_call",
  "shell_call",
  "apply_patch_call",
  "mcp_approval_request",
  "function_call",
]);
// Types that the lowering itself creates are never taken from elsewhere, which would bypass its rules.
const ownTypes = new Set(["message", "reasoning", "function_call_output", "item_reference"]);

/** Returns an item to send back unchanged; undefined if it must not be sent. */
export function replayedItem(part: MessageContentPart, item: OpaqueItem): OpaqueItem | undefined {
  if (needsOutput.has(item.type) || ownTypes.has(item.type) || item.type.endsWith("_output"))
    return undefined;
  if (item.type !== "image_generation_call") return item;
  return part.type === "file" && part.data !== undefined ? { ...item, result: part.data } : undefined;
}

/** Returns the metadata of a part that represents an item without its own form. */
export function keepItem(item: OutputItem): { providerMetadata?: ProviderMetadata } {
  return keep({ item: JSON.stringify(item) });
}

function parseItem(text: unknown): OpaqueItem | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const item = JSON.parse(text) as unknown;
    const isItem =
      typeof item === "object" &&
      item !== null &&
      isId((item as { type?: unknown }).type) &&
      isWellFormed(item);
    return isItem ? (item as OpaqueItem) : undefined;
  } catch {
    return undefined;
  }
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && isWellFormed(value);
}
