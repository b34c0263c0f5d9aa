import { ParleyError } from "@parley/core/errors";

export function notFound(conversationId: string): ParleyError {
  return new ParleyError("conversation_not_found", undefined, { details: { conversationId } });
}

export function invalid(message: string, details?: Record<string, unknown>): ParleyError {
  return new ParleyError("invalid_request", message, details === undefined ? {} : { details });
}

export function staleFence(conversationId: string, turnId: string): ParleyError {
  return new ParleyError("stale_fence", undefined, { details: { conversationId, turnId } });
}

/** Creates the refusal of a conversation that is held: by its open turn, or by a compaction. */
export function turnActive(
  head: {
    readonly conversationId: string;
    readonly turnId: string | undefined;
    readonly compactionId: string | undefined;
    readonly waiting?: boolean;
  },
  open: readonly {
    readonly requestId: string;
    readonly kind: string;
    readonly toolName: string;
    readonly response: unknown;
  }[] = [],
): ParleyError {
  const { conversationId, compactionId, turnId = compactionId } = head;
  const waits = head.waiting ? "A turn of this conversation waits for input" : undefined;
  const message = compactionId === undefined ? waits : "A compaction is running in this conversation";
  const requests = open
    .filter(({ response }) => response === undefined)
    .map(({ requestId, kind, toolName }) => ({ requestId, kind, toolName }));
  const named = requests.length > 0 ? { requests } : {};
  return new ParleyError("turn_active", message, { details: { conversationId, turnId, ...named } });
}

export function messageConflict(messageId: string, message?: string): ParleyError {
  return new ParleyError("message_conflict", message, { details: { messageId } });
}

/** Refuses an invalid time: a database would keep another one. */
export function checkCreatedAt(message: { readonly id: string; readonly createdAt: unknown }): void {
  const { id, createdAt } = message;
  if (createdAt === undefined || !Number.isNaN(new Date(createdAt as Date).getTime())) return;
  throw invalid("createdAt of a message: not a valid date", { messageId: id });
}

const conversationIdForm = /^[A-Za-z0-9._:-]{1,128}$/;

/** Refuses an id that no conversation can have. */
export function checkConversationId(id: string): void {
  if (conversationIdForm.test(id)) return;
  throw invalid("A conversation id has 1 to 128 characters of A-Z a-z 0-9 . _ : -");
}
