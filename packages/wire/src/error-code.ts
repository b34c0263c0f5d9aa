/**
 * What went wrong, as a word that programs can rely on. Decided where the cause is known; messages are for
 * people and may change, codes do not.
 */
export type ErrorCode =
  | "invalid_request"
  | "unauthorized"
  | "forbidden"
  | "conversation_not_found"
  | "message_conflict"
  | "turn_active"
  | "conversation_closed"
  | "queue_full"
  | "too_large"
  | "limit_exceeded"
  | "draining"
  | "store_unavailable"
  | "stale_fence"
  | "schema_newer"
  | "nothing_to_compact"
  | "model_unavailable"
  | "context_overflow"
  | "rate_limited"
  | "quota_exceeded"
  | "provider_auth"
  | "provider_rejected"
  | "provider_overloaded"
  | "content_filtered"
  | "timeout"
  | "network"
  | "canceled"
  | "tool_failed"
  | "answer_too_large"
  | "internal";
