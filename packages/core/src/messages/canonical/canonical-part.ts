import type { MessageRole } from "../message.js";
import { argumentsTextOf, type MessageContentPart, resultTextOf } from "../part.js";
import type { MessagePart } from "./canonical-message.js";
import {
  callIdAt,
  type Fields,
  fieldsBeside,
  isFields,
  normalizePart,
  type PartPlace,
} from "./normalize-part.js";

/**
 * Converts a part of Parley's own form to its stored form. Tool parts keep only their text, because a database may
 * reorder the keys and respell the numbers of a value; fields that Parley does not know are kept.
 */
export function toCanonicalPart(part: MessageContentPart): MessagePart {
  switch (part.type) {
    case "text":
    case "source":
    case "error":
      return part;
    case "reasoning": {
      const { text, ...rest } = part;
      return { ...rest, reasoning: text };
    }
    case "tool-call": {
      const { type: _, name, arguments: _derived, argumentsText: _text, toolCallId, ...rest } = part;
      const argsText = argumentsTextOf(part);
      return {
        ...rest,
        type: "tool-invocation",
        toolCallId: toolCallId ?? "",
        toolName: name,
        argsText,
        state: "call",
      };
    }
    case "tool-result": {
      const { type: _, name, result: _derived, resultText: _text, toolCallId, ...rest } = part;
      const resultText = resultTextOf(part);
      return {
        ...rest,
        type: "tool-invocation",
        toolCallId: toolCallId ?? "",
        toolName: name,
        resultText,
        state: "result",
      };
    }
    case "metadata":
      return { ...part, type: "data" };
    case "file": {
      const { mediaType, data = "", ...rest } = part;
      return { ...rest, data, mimeType: mediaType };
    }
  }
}

/** Content of a stored part: one part, or the call and the result that another writer put into one. */
export interface ReadPart {
  readonly part: MessageContentPart;
  /** The result, if `part` is the call that it was merged with. */
  readonly result?: MessageContentPart;
}

/**
 * Converts a stored part, of any writer, to Parley's own form. A result in an assistant message is the writer's
 * merged call and result, unless it has the form in which Parley stores a result. A call that was never complete is
 * no call: it is kept as a `metadata` part, as are kinds that are unknown.
 */
export function fromCanonicalPart(part: unknown, role: MessageRole, place: PartPlace): ReadPart {
  if (!isFields(part)) return { part: normalizePart(part, place) };
  switch (part.type) {
    case "reasoning": {
      const { reasoning, ...rest } = part;
      if (typeof reasoning !== "string") break;
      return { part: normalizePart({ ...rest, text: reasoning }, place) };
    }
    case "tool-invocation":
      return typeof part.toolName === "string" && part.state !== "partial-call"
        ? fromInvocation(part, role, place)
        : { part: { type: "metadata", data: part } };
    case "file": {
      const { mimeType, ...rest } = part;
      return { part: normalizePart(mimeType === undefined ? rest : { ...rest, mediaType: mimeType }, place) };
    }
    case "data":
      return { part: normalizePart({ ...part, type: "metadata" }, place) };
  }
  return { part: normalizePart(part, place) };
}

function fromInvocation(part: Fields, role: MessageRole, place: PartPlace): ReadPart {
  const isResult = part.state === "result" || (part.state !== "call" && part.result !== undefined);
  if (!isResult) return { part: callOf(part, place) };
  if (role !== "assistant" || isStoredResult(part)) return { part: resultOf(part, place) };
  const { toolCallId } = part;
  const id = typeof toolCallId === "string" && toolCallId !== "" ? toolCallId : callIdAt(place);
  const { args: _, argsText: _text, providerMetadata: _call, ...outcome } = part;
  const {
    result: _result,
    resultText: _answer,
    isError: _error,
    durationMs: _ms,
    interrupted: _cut,
    ...request
  } = part;
  return {
    part: callOf({ ...request, toolCallId: id }, place),
    result: resultOf({ ...outcome, toolCallId: id }, place),
  };
}

/** Returns true if an invocation is a result as Parley stores it: text, and nothing of the call. */
function isStoredResult(part: Fields): boolean {
  return typeof part.resultText === "string" && part.args === undefined && part.argsText === undefined;
}

const storedCallFields = new Set(["type", "toolName", "args", "argsText", "state"]);
const storedResultFields = new Set(["type", "toolName", "state"]);

function callOf(part: Fields, place: PartPlace): MessageContentPart {
  const { toolName: name, args, argsText } = part;
  const rest = fieldsBeside(part, storedCallFields);
  return normalizePart({ ...rest, type: "tool-call", name, arguments: args, argumentsText: argsText }, place);
}

function resultOf(part: Fields, place: PartPlace): MessageContentPart {
  const rest = fieldsBeside(part, storedResultFields);
  return normalizePart({ ...rest, type: "tool-result", name: part.toolName }, place);
}
