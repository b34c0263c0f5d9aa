import type { CallInput } from "@parley/client";
import type {
  InputKind,
  JsonObject,
  MeResponse,
  OpenUnion,
  PendingRequest,
  ToolCallChunk,
} from "@parley/wire";

/** A request as a card shows it, from the conversation or from the inbox. */
export interface RequestDetails {
  readonly conversationId: string;
  readonly requestId: string;
  readonly kind: OpenUnion<InputKind>;
  readonly toolName: string;
  /** The arguments that will run, byte for byte. */
  readonly argumentsText: string;
  readonly argumentsHash: string;
  readonly reason?: string | undefined;
  readonly schema?: JsonObject | undefined;
  /** Epoch milliseconds. */
  readonly requestedAt?: number | undefined;
  readonly expiresAt?: number | undefined;
}

/** Returns the request of a call that is shown in its conversation. */
export function detailsOfCall(
  conversationId: string,
  call: ToolCallChunk,
  { request, requestedAt }: CallInput,
): RequestDetails {
  const { requestId, kind, toolName, argumentsHash, reason, schema, expiresAt } = request;
  const argumentsText = call.argumentsText ?? JSON.stringify(call.input) ?? "";
  return {
    conversationId,
    requestId,
    kind,
    toolName,
    argumentsText,
    argumentsHash,
    reason,
    schema,
    requestedAt,
    expiresAt,
  };
}

/** Returns the details of a request from the inbox. */
export function detailsOfPending(pending: PendingRequest): RequestDetails {
  const { createdAt: requestedAt, ...rest } = pending;
  return { ...rest, requestedAt };
}

/** Returns the scope that a caller's key lacks for answering requests of this kind; undefined if it lacks none. */
export function missingScope(
  me: MeResponse | undefined,
  kind: OpenUnion<InputKind>,
): "approve" | "write" | undefined {
  const needed = kind === "tool-output" ? "write" : "approve";
  return me === undefined || me.scopes.includes(needed) || me.scopes.includes("admin") ? undefined : needed;
}
