import type { ErrorCode } from "@parley/wire";

const retryable: Partial<Record<string, true>> = {
  turn_active: true,
  queue_full: true,
  limit_exceeded: true,
  draining: true,
  store_unavailable: true,
  rate_limited: true,
  provider_overloaded: true,
  timeout: true,
  network: true,
} satisfies Partial<Record<ErrorCode, true>>;

/** Returns true if a failure with this code is retryable by default. */
export function isRetryable(code: string | undefined): boolean {
  return code !== undefined && Object.hasOwn(retryable, code);
}
