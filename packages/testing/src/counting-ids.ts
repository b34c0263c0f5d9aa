import type { IdFactory } from "@parley/core/messages";

/** Creates ids that count up: `prefix1`, `prefix2`, ... for tests and examples. */
export function createCountingIds(prefix = "id"): IdFactory {
  let last = 0;
  return { next: () => `${prefix}${++last}` };
}
