import type { ProviderCallParams } from "@parley/core/ports";

/** The effort that a request asks of a model. */
export type Effort = NonNullable<ProviderCallParams["reasoningEffort"]>;

const efforts: readonly Effort[] = ["low", "medium", "high", "xhigh", "max"];

/**
 * Returns the efforts that change a request, from least to most, judged by the fields that the request is sent with. Of
 * several efforts with the same fields only the first is returned. A single effort counts as none: there is nothing to
 * choose.
 */
export function distinctEfforts(fieldsOf: (effort: Effort | undefined) => unknown): readonly Effort[] {
  const seen = new Set([JSON.stringify(fieldsOf(undefined)) ?? ""]);
  const distinct = efforts.filter((effort) => {
    const fields = JSON.stringify(fieldsOf(effort)) ?? "";
    if (seen.has(fields)) return false;
    seen.add(fields);
    return true;
  });
  return distinct.length > 1 ? distinct : [];
}
