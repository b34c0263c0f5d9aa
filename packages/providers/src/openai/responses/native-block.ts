import type { ProviderMessage } from "@parley/core/ports";
import type { OpaqueItem } from "./api-types.js";

/**
 * Blocks that a caller passed in the API's own form. They are sent unchanged, so the code that prepares
 * messages needs only their place: there a part represents each, and refers to it by its number.
 */
export type NativeBlocks = readonly OpaqueItem[];

type Part = ProviderMessage["content"][number];

const ownTypes = new Set([
  "text",
  "reasoning",
  "tool-call",
  "tool-result",
  "metadata",
  "file",
  "source",
  "error",
]);
// Read as text, whatever their role.
const textTypes = new Set(["input_text", "output_text", "refusal"]);

/** Returns true if a block is in the API's own form, and not one that Parley has a form for. */
export function isNativeBlock(block: unknown): block is OpaqueItem {
  if (typeof block !== "object" || block === null) return false;
  const { type, text, summary } = block as Record<string, unknown>;
  if (typeof type !== "string" || type === "" || textTypes.has(type)) return false;
  // Both forms have a block of this type.
  if (type === "reasoning") return typeof text !== "string" && Array.isArray(summary);
  return !ownTypes.has(type);
}

const itemTypes = new Set(["message", "reasoning", "item_reference", "compaction", "program"]);

/** Returns true if a block is an item of the input; all others are parts of a message. */
export function isItem({ type }: OpaqueItem): boolean {
  return itemTypes.has(type) || /_(?:call|output|request|response|tools)$/.test(type);
}

/** Takes blocks out of messages and leaves parts in their places. */
export class NativeCollector {
  readonly blocks: OpaqueItem[] = [];
  readonly #calls: ReadonlySet<string>;
  readonly #results: ReadonlySet<string>;

  /** `parts`: all parts in Parley's form, to find the calls and results that native blocks belong to. */
  constructor(parts: readonly Part[]) {
    const idsOf = (type: string) =>
      new Set(
        parts.flatMap((part) => {
          const { toolCallId } = part as { toolCallId?: unknown };
          return part.type === type && typeof toolCallId === "string" ? [toolCallId] : [];
        }),
      );
    this.#calls = idsOf("tool-call");
    this.#results = idsOf("tool-result");
  }

  /**
   * Returns the part that represents a block. An output that answers one of Parley's calls becomes a result,
   * and a call that one of Parley's results answers becomes a call, so that the pair stays together; any
   * other block becomes a metadata part.
   */
  take(block: OpaqueItem): Part {
    const providerMetadata = { openai: { native: this.blocks.push(block) - 1 } };
    const { type, call_id: toolCallId, name, output } = block;
    if (typeof toolCallId === "string") {
      if (type === "function_call_output" && this.#calls.has(toolCallId)) {
        return {
          type: "tool-result",
          name: "",
          toolCallId,
          result: output,
          resultText: "",
          providerMetadata,
        };
      }
      if (type === "function_call" && this.#results.has(toolCallId)) {
        return {
          type: "tool-call",
          name: String(name),
          toolCallId,
          arguments: {},
          argumentsText: "",
          providerMetadata,
        };
      }
    }
    return { type: "metadata", data: null, providerMetadata };
  }
}

/** Removes a number that was not assigned here: only blocks that the caller passed are sent as blocks. */
export function withoutNumber(part: Part): Part {
  const { providerMetadata } = part as { providerMetadata?: { openai?: { native?: unknown } } };
  if (providerMetadata?.openai?.native === undefined) return part;
  const { native: _, ...openai } = providerMetadata.openai;
  return { ...part, providerMetadata: { ...providerMetadata, openai } };
}

/** Returns the block that a part represents, with the id that its call has in this request. */
export function blockOf(
  part: { readonly providerMetadata?: object; readonly toolCallId?: string },
  blocks: NativeBlocks,
): OpaqueItem | undefined {
  const { openai } = (part.providerMetadata ?? {}) as { openai?: { native?: unknown } };
  const block = typeof openai?.native === "number" ? blocks[openai.native] : undefined;
  if (block === undefined || part.toolCallId === undefined || block.call_id === part.toolCallId) return block;
  return { ...block, call_id: part.toolCallId };
}
