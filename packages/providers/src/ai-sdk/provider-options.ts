import { type PartExtras, stableValue } from "@parley/core/messages";
import type { JSONValue } from "ai";

/** Options or metadata of the AI SDK: by provider, then by field. */
export type ProviderFields = Record<string, Record<string, JSONValue>>;

/**
 * Metadata as the options of a later call: every field as it was, in one spelling (keys sorted, nothing that JSON
 * lacks). Undefined where there is nothing to say, and for whatever is not keyed by provider.
 */
export function toProviderFields(metadata: unknown): ProviderFields | undefined {
  if (!isFields(metadata)) return undefined;
  const entries = Object.entries(metadata).flatMap(([provider, fields]) => {
    const settled = isFields(fields) ? stableValue(fields) : undefined;
    return isFields(settled) ? [[provider, settled] as const] : [];
  });
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as ProviderFields);
}

/** Both, field by field; where both say something, the later one counts. */
export function mergeFields(
  earlier: ProviderFields | undefined,
  later: ProviderFields | undefined,
): ProviderFields | undefined {
  if (earlier === undefined || later === undefined) return later ?? earlier;
  const merged: ProviderFields = { ...earlier };
  for (const [provider, fields] of Object.entries(later)) {
    merged[provider] = { ...merged[provider], ...fields };
  }
  return merged;
}

/** The field of a part that keeps them. */
export function asMetadata(fields: ProviderFields | undefined): PartExtras {
  // The two libraries spell the type of a JSON value differently.
  return fields === undefined ? {} : ({ providerMetadata: fields } as PartExtras);
}

/** True for an object with named fields. */
export function isFields(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
