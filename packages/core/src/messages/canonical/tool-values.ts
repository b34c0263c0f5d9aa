import { argumentsFromText, resultFromText } from "../part.js";
import type { CanonicalMessage, MessagePart, ToolInvocationPart } from "./canonical-message.js";
import { base64Of } from "./normalize-part.js";

/** Returns the part with the values of its texts beside them. */
export function withToolValue(part: ToolInvocationPart): ToolInvocationPart {
  const { argsText, resultText } = part;
  return {
    ...part,
    ...(argsText === undefined ? {} : { args: argumentsFromText(argsText) }),
    ...(resultText === undefined ? {} : { result: resultFromText(resultText) }),
  };
}

/** Returns the message with `args` and `result` in its tool parts, beside the texts that Parley keeps. */
export function withToolValues(message: CanonicalMessage): CanonicalMessage {
  return withParts(message, (part) =>
    part.type === "tool-invocation" && (part.argsText !== undefined || part.resultText !== undefined)
      ? withToolValue(part)
      : part,
  );
}

/**
 * Returns the message as a store keeps it: values that have a text are left out, because a database may reorder their
 * keys and respell their numbers, and the bytes of files are base64.
 */
export function toStoredForm(message: CanonicalMessage): CanonicalMessage {
  return withParts(message, (part) => {
    if (part.type === "file" && typeof part.data !== "string") return { ...part, data: base64Of(part.data) };
    if (part.type !== "tool-invocation") return part;
    const { args, result, ...rest } = part;
    const isArgsKept = args !== undefined && part.argsText === undefined;
    const isResultKept = result !== undefined && part.resultText === undefined;
    if (isArgsKept === (args !== undefined) && isResultKept === (result !== undefined)) return part;
    return { ...rest, ...(isArgsKept ? { args } : {}), ...(isResultKept ? { result } : {}) };
  });
}

/** Returns the message with its parts replaced; the same one if none changes. */
function withParts(message: CanonicalMessage, replace: (part: MessagePart) => MessagePart): CanonicalMessage {
  const given: unknown = message.content.parts;
  if (!Array.isArray(given)) return message;
  const parts = message.content.parts.map((part: unknown) =>
    typeof part === "object" && part !== null ? replace(part as MessagePart) : (part as MessagePart),
  );
  if (parts.every((part, index) => part === message.content.parts[index])) return message;
  return { ...message, content: { ...message.content, parts } };
}
