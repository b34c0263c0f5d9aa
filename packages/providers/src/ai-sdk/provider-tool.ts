import { type MetadataContentPart, stableValue } from "@parley/core/messages";
import type { JSONValue, ToolCallPart, ToolResultPart } from "ai";
import { isFields, type ProviderFields, toProviderFields } from "./provider-options.js";

/**
 * A call that the provider itself ran, or its result. The turn loop must neither run nor answer it, so it is
 * kept as a `metadata` part: only the model that made it sees it, and gets it back unchanged.
 */
export type ProviderToolPart = {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly providerOptions?: ProviderFields;
} & (
  | { readonly type: "tool-call"; readonly input: JSONValue }
  | { readonly type: "tool-result"; readonly output: JSONValue; readonly isError?: boolean }
);

// Under a separate key: the providers' keys hold data that they sent themselves.
const keptKey = "ai-sdk";

/** Returns the part in which a provider's own call or result is kept. */
export function keptProviderTool(part: ProviderToolPart): MetadataContentPart {
  const { type, toolCallId, toolName } = part;
  return {
    type: "metadata",
    data: { type: `provider-${type}`, toolCallId, toolName },
    providerMetadata: { [keptKey]: { part: JSON.stringify(stableValue(part)) } },
  };
}

/** Returns the provider's own tool part that is kept on a part, if any. */
export function readProviderTool(part: MetadataContentPart): ToolCallPart | ToolResultPart | undefined {
  const text = part.providerMetadata?.[keptKey]?.part;
  if (typeof text !== "string") return undefined;
  const kept = parse(text);
  if (!isFields(kept) || typeof kept.toolCallId !== "string" || typeof kept.toolName !== "string") {
    return undefined;
  }
  const { toolCallId, toolName } = kept;
  const providerOptions = toProviderFields(kept.providerOptions);
  const rest = providerOptions === undefined ? {} : { providerOptions };
  if (kept.type === "tool-call") {
    const input = kept.input ?? {};
    return { type: "tool-call", toolCallId, toolName, input, providerExecuted: true, ...rest };
  }
  if (kept.type !== "tool-result") return undefined;
  const value = (kept.output ?? null) as JSONValue;
  const type = kept.isError === true ? "error-json" : "json";
  return { type: "tool-result", toolCallId, toolName, output: { type, value }, ...rest };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
