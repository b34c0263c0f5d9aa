import { type PartExtras, stableValue } from "@parley/core/messages";
import type { JSONValue } from "ai";

/** Options or metadata of the AI SDK: by provider, then by field. */
export type ProviderFields = Record<string, Record<string, JSONValue>>;

/**
 * Converts metadata to the options of a later call: every field unchanged, in one canonical form (keys
 * sorted, nothing that JSON lacks). Undefined if there is nothing to pass on, and for anything that is not
 * keyed by provider.
 */
export function toProviderFields(metadata: unknown): ProviderFields | undefined {
  if (!isFields(metadata)) return undefined;
  const entries = Object.entries(metadata).flatMap(([provider, fields]) => {
    const settled = isFields(fields) ? stableValue(fields) : undefined;
    return isFields(settled) ? [[provider, settled] as const] : [];
  });
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as ProviderFields);
}

/** Merges both, field by field; if both have a field, the later one wins. */
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

/** Returns the part's field that stores them. */
export function asMetadata(fields: ProviderFields | undefined): PartExtras {
  // The two libraries define the type of a JSON value differently.
  return fields === undefined ? {} : ({ providerMetadata: fields } as PartExtras);
}

/** Returns true for an object with named fields. */
export function isFields(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
