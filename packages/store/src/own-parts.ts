import { argumentsFromText, type MessageContentPart, resultFromText } from "@parley/core/messages";

type ProviderMetadata = NonNullable<MessageContentPart["providerMetadata"]>;
type Stored = Readonly<Record<string, unknown>>;

/**
 * Returns the output of `fromCanonical` for parts as Parley itself stores text, reasoning, calls and, in a `tool`
 * message, results, at a fraction of the cost: nearly all parts of a window are of these kinds. Returns undefined if
 * there is any other part. A result has `isError` only if it was stored with it.
 */
export function ownParts(parts: readonly unknown[], role: string): MessageContentPart[] | undefined {
  const own: MessageContentPart[] = [];
  for (const part of parts) {
    if (!isObject(part)) return undefined;
    const read = ownPart(part, role);
    if (read === undefined) return undefined;
    own.push(read);
  }
  return own;
}

function ownPart(part: Stored, role: string): MessageContentPart | undefined {
  if (part.providerMetadata !== undefined && !isObject(part.providerMetadata)) return undefined;
  if (part.type === "text") {
    return typeof part.text === "string" ? (part as unknown as MessageContentPart) : undefined;
  }
  if (part.type === "reasoning") return ownReasoning(part);
  if (part.type !== "tool-invocation") return undefined;
  const { toolCallId, toolName } = part;
  if (typeof toolCallId !== "string" || toolCallId === "" || typeof toolName !== "string") return undefined;
  if (part.state === "call") return ownCall(part, toolName, toolCallId);
  return part.state === "result" && role === "tool" ? ownResult(part, toolName, toolCallId) : undefined;
}

const reasoningFields = new Set(["type", "reasoning", "durationMs", "providerMetadata"]);

function ownReasoning(part: Stored): MessageContentPart | undefined {
  const { reasoning, durationMs } = part;
  if (typeof reasoning !== "string" || !hasOnly(part, reasoningFields)) return undefined;
  if (durationMs !== undefined && typeof durationMs !== "number") return undefined;
  const read: MessageContentPart = { type: "reasoning", text: reasoning };
  if (durationMs !== undefined) read.durationMs = durationMs;
  return withMetadata(read, part);
}

const callFields = new Set([
  "type",
  "toolCallId",
  "toolName",
  "argsText",
  "state",
  "stepId",
  "providerMetadata",
]);

function ownCall(part: Stored, name: string, toolCallId: string): MessageContentPart | undefined {
  const { argsText, stepId } = part;
  if (typeof argsText !== "string" || !hasOnly(part, callFields)) return undefined;
  const call: MessageContentPart = {
    type: "tool-call",
    name,
    arguments: argumentsFromText(argsText),
    argumentsText: argsText,
    toolCallId,
  };
  if (typeof stepId === "string") call.stepId = stepId;
  return withMetadata(call, part);
}

const resultFields = new Set([
  "type",
  "toolCallId",
  "toolName",
  "resultText",
  "state",
  "stepId",
  "isError",
  "durationMs",
  "interrupted",
  "providerMetadata",
]);

function ownResult(part: Stored, name: string, toolCallId: string): MessageContentPart | undefined {
  const { resultText, isError, stepId, durationMs, interrupted } = part;
  if (typeof resultText !== "string" || !hasOnly(part, resultFields)) return undefined;
  const result: MessageContentPart = {
    type: "tool-result",
    name,
    result: resultFromText(resultText),
    resultText,
    toolCallId,
  };
  if ("isError" in part) result.isError = isError === true;
  if (typeof stepId === "string") result.stepId = stepId;
  if (typeof durationMs === "number") result.durationMs = durationMs;
  if (typeof interrupted === "boolean") result.interrupted = interrupted;
  return withMetadata(result, part);
}

function withMetadata(read: MessageContentPart, part: Stored): MessageContentPart {
  const { providerMetadata } = part;
  if (providerMetadata !== undefined) read.providerMetadata = providerMetadata as ProviderMetadata;
  return read;
}

function hasOnly(part: Stored, fields: ReadonlySet<string>): boolean {
  for (const key in part) if (!fields.has(key)) return false;
  return true;
}

function isObject(value: unknown): value is Stored {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
