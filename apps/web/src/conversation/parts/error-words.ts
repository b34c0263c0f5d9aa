import type { ErrorCode, OpenUnion } from "@parley/wire";

/** A failure in words: what happened, and what a user can do about it. */
export interface ErrorWords {
  readonly title: string;
  readonly advice: string;
}

const words: Readonly<Record<ErrorCode, ErrorWords>> = {
  invalid_request: {
    title: "The request was not understood",
    advice: "This is a fault of the page; please report it.",
  },
  unauthorized: { title: "You are not logged in", advice: "Log in with an API key." },
  forbidden: { title: "This key may not do that", advice: "Use a key with the right to write." },
  conversation_not_found: {
    title: "This conversation does not exist",
    advice: "It was deleted, or belongs to someone else.",
  },
  message_conflict: {
    title: "This message has changed meanwhile",
    advice: "It was already delivered, or sent with another text.",
  },
  turn_active: { title: "A turn is still running", advice: "Queue the message, or stop the turn first." },
  conversation_closed: { title: "This conversation is closed", advice: "Reopen it to go on." },
  queue_full: { title: "The queue is full", advice: "Wait until a message was delivered, or remove one." },
  too_large: { title: "That is too large", advice: "Send less at once." },
  limit_exceeded: { title: "The server is at its limit", advice: "Try again in a moment." },
  draining: { title: "The server is restarting", advice: "Try again in a moment." },
  store_unavailable: { title: "The server cannot reach its store", advice: "Try again in a moment." },
  stale_fence: { title: "Another server took the turn over", advice: "Try again." },
  schema_newer: { title: "The store is newer than the server", advice: "Update the server." },
  nothing_to_compact: { title: "There is nothing to compact", advice: "The conversation is short enough." },
  model_unavailable: { title: "The model is not available", advice: "Choose another model." },
  context_overflow: {
    title: "The conversation no longer fits the model",
    advice: "Compact it, choose a model with a larger window, or shorten the message.",
  },
  rate_limited: {
    title: "The provider limits how often it is asked",
    advice: "Wait a moment and try again.",
  },
  quota_exceeded: { title: "The provider's quota is used up", advice: "Check the account at the provider." },
  provider_auth: {
    title: "The provider refused the server's key",
    advice: "Check the key in the server's settings.",
  },
  provider_rejected: {
    title: "The provider does not accept this request",
    advice: "Its reason is below. Change the message, the settings or the model.",
  },
  provider_overloaded: {
    title: "The provider is overloaded or failed",
    advice: "The request was fine. Try again in a moment, or ask another model.",
  },
  content_filtered: {
    title: "The provider declined to answer",
    advice:
      "Its rules for content do not allow this request or its answer. Rephrase it, or ask another model.",
  },
  timeout: {
    title: "It took too long",
    advice: "Try again. If the model needs longer, raise the limit that is named below.",
  },
  network: { title: "The connection failed", advice: "Check the network and try again." },
  canceled: { title: "It was canceled", advice: "" },
  tool_failed: { title: "A tool failed", advice: "Try again, or ask without it." },
  already_decided: {
    title: "Somebody else decided this",
    advice: "The decision in force is shown in the conversation.",
  },
  answer_too_large: {
    title: "The answer was too long and was cut off",
    advice: "What arrived is kept. Ask for less at once, or raise the limit in the server's settings.",
  },
  output_invalid: {
    title: "The answer does not match the schema",
    advice: "Ask again, or simplify the schema.",
  },
  internal: { title: "Something went wrong in the server", advice: "Try again; the server's log says more." },
};

/** Returns the words for a code. A code from a newer server gets general ones. */
export function errorWords(code: OpenUnion<ErrorCode> | undefined): ErrorWords {
  if (code !== undefined && Object.hasOwn(words, code)) return words[code as ErrorCode];
  return { title: "Something went wrong", advice: "Try again." };
}

const lasting: ReadonlySet<string> = new Set<ErrorCode>([
  "invalid_request",
  "unauthorized",
  "forbidden",
  "provider_auth",
  "quota_exceeded",
  "schema_newer",
  "content_filtered",
  "provider_rejected",
  "context_overflow",
  "model_unavailable",
  "too_large",
  "answer_too_large",
  "output_invalid",
]);

/** Returns true if a retry may succeed later. History keeps only the code, so the code decides. */
export function isRetryable(code: OpenUnion<ErrorCode> | undefined): boolean {
  return code === undefined || !lasting.has(code);
}
