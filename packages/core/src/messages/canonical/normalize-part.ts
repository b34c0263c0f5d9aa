import { omitUndefined } from "@parley/fold";
import {
  argumentsFromText,
  type FileContentPart,
  isStoredFile,
  type MessageContentPart,
  type MetadataContentPart,
  resultFromText,
  type ToolCallContentPart,
  type ToolResultContentPart,
  textOfValue,
} from "../part.js";
import { hashText } from "../text/hash.js";

/** An object whose fields are not known yet. */
export type Fields = { readonly [key: string]: unknown };

/** Returns true for an object with named fields: no array, no null. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const noFields: Fields = Object.freeze({});

/**
 * Returns the fields beside the named ones. There are almost never any, and then this is several times cheaper than a
 * rest pattern, which always makes a new object of the slow kind.
 */
export function fieldsBeside(fields: Fields, named: ReadonlySet<string>): Fields {
  let beside: [string, unknown][] | undefined;
  for (const key of Object.keys(fields)) {
    if (named.has(key)) continue;
    beside ??= [];
    beside.push([key, fields[key]]);
  }
  return beside === undefined ? noFields : Object.fromEntries(beside);
}

/** Place of a part, from which missing ids are made. */
export interface PartPlace {
  readonly messageId: string;
  readonly index: number;
}

/** A tool part in Parley's own form, which always has an id and a text. */
export type OwnToolCallPart = ToolCallContentPart & { toolCallId: string; argumentsText: string };
export type OwnToolResultPart = ToolResultContentPart & {
  toolCallId: string;
  resultText: string;
  isError: boolean;
};

/** Returns the id of a call that came without one. The same place always gives the same id. */
export function callIdAt(place: PartPlace): string {
  return `call_${hashText(`${place.messageId}\n${place.index}`)}`;
}

/** Returns the id of a result that came without one and answers no known call. */
function strayIdAt(place: PartPlace): string {
  return `stray_${hashText(`${place.messageId}\n${place.index}`)}`;
}

/**
 * Returns true if a part has the shape of Parley's own form. The derived values of tool parts are not compared with
 * their text: this is the cheap check that decides if a history needs normalizing at all.
 */
export function isOwnPart(part: unknown): part is MessageContentPart {
  if (!isFields(part)) return false;
  if (part.providerMetadata !== undefined && !isFields(part.providerMetadata)) return false;
  switch (part.type) {
    case "text":
      return typeof part.text === "string";
    case "reasoning":
      return typeof part.text === "string" && isOptional(part.durationMs, "number");
    case "tool-call":
      return (
        typeof part.name === "string" &&
        isId(part.toolCallId) &&
        typeof part.argumentsText === "string" &&
        part.arguments !== undefined &&
        isOptional(part.stepId, "string")
      );
    case "tool-result":
      return (
        typeof part.name === "string" &&
        isId(part.toolCallId) &&
        typeof part.resultText === "string" &&
        part.result !== undefined &&
        isOptional(part.stepId, "string") &&
        isOptional(part.durationMs, "number") &&
        isOptional(part.interrupted, "boolean") &&
        isOptional(part.isError, "boolean")
      );
    case "metadata":
      return part.data !== undefined;
    case "file":
      return isOwnFile(part);
    case "source":
      return (
        isOptional(part.id, "string") && isOptional(part.title, "string") && isOptional(part.url, "string")
      );
    case "error":
      return typeof part.message === "string" && isOptional(part.code, "string");
    default:
      return false;
  }
}

/**
 * Converts any part to Parley's own form; one that already has it is unchanged, and its fields that Parley does not
 * know stay. Tool parts get their text, the values derived from it and an id; a file's bytes become base64. A part
 * that cannot be read as the kind it claims to be, and any kind that is unknown, is kept whole as the `data` of a
 * `metadata` part, so nothing is lost and no model is shown something it cannot take.
 */
export function normalizePart(part: unknown, place: PartPlace): MessageContentPart {
  if (typeof part === "string") return { type: "text", text: part };
  if (!isFields(part)) return keptWhole(part);
  if (part.providerMetadata !== undefined && !isFields(part.providerMetadata)) return keptWhole(part);
  if (part.type === "tool-call" && typeof part.name === "string") return normalizeCall(part, place);
  if (part.type === "tool-result" && typeof part.name === "string") return normalizeResult(part, place);
  if (isOwnPart(part)) return part;
  if (part.type === "file") return normalizeFile(part) ?? keptWhole(part);
  if (part.type === "metadata") return { ...part, type: "metadata", data: null } as MetadataContentPart;
  return keptWhole(part);
}

function keptWhole(original: unknown): MetadataContentPart {
  return { type: "metadata", data: original ?? null };
}

const callFields = new Set(["type", "name", "arguments", "argumentsText", "toolCallId", "stepId"]);

function normalizeCall(part: Fields, place: PartPlace): OwnToolCallPart {
  const { name, arguments: given, argumentsText: text, toolCallId, stepId } = part;
  const argumentsText = typeof text === "string" ? text : given === undefined ? "{}" : textFor(given);
  return {
    type: "tool-call",
    name,
    arguments: argumentsFromText(argumentsText),
    argumentsText,
    toolCallId: isId(toolCallId) ? toolCallId : callIdAt(place),
    ...(typeof stepId === "string" ? { stepId } : {}),
    ...fieldsBeside(part, callFields),
  } as OwnToolCallPart;
}

const resultFields = new Set([
  "type",
  "name",
  "result",
  "resultText",
  "toolCallId",
  "stepId",
  "isError",
  "durationMs",
  "interrupted",
]);

function normalizeResult(part: Fields, place: PartPlace): OwnToolResultPart {
  const {
    name,
    result: given,
    resultText: text,
    toolCallId,
    stepId,
    isError,
    durationMs,
    interrupted,
  } = part;
  const resultText = typeof text === "string" ? text : textFor(given);
  return {
    type: "tool-result",
    name,
    result: resultFromText(resultText),
    resultText,
    toolCallId: isId(toolCallId) ? toolCallId : strayIdAt(place),
    // Always set, so that forms which need the field and forms which may omit it agree.
    isError: isError === true,
    ...(typeof stepId === "string" ? { stepId } : {}),
    ...(typeof durationMs === "number" ? { durationMs } : {}),
    ...(typeof interrupted === "boolean" ? { interrupted } : {}),
    ...fieldsBeside(part, resultFields),
  } as OwnToolResultPart;
}

/** Returns a text as `textOfValue` does, also for values that JSON refuses. */
function textFor(value: unknown): string {
  try {
    return textOfValue(value);
  } catch {
    return String(value);
  }
}

// Base64 has no colon, so a file whose data is really an address can be recognized without guessing.
function isOwnFile(part: Fields): boolean {
  const { mediaType, data, url, filename } = part;
  if (typeof mediaType !== "string" || !isOptional(url, "string") || !isOptional(filename, "string")) {
    return false;
  }
  if (data === undefined) return url !== undefined || isStoredFile(part);
  if (isStoredFile(part)) return false;
  return typeof data === "string" && !data.includes(":") && (data !== "" || url === undefined);
}

const unknownMediaType = "application/octet-stream";

function normalizeFile(part: Fields): FileContentPart | undefined {
  const { mediaType, data, url, filename, ...rest } = part;
  if (!isOptional(mediaType, "string") || !isOptional(url, "string") || !isOptional(filename, "string")) {
    return undefined;
  }
  if (data !== undefined && typeof data !== "string" && !(data instanceof Uint8Array)) return undefined;
  const source = isStoredFile(part) ? {} : fileSource(data, url);
  const type = mediaType ?? source.mediaType ?? unknownMediaType;
  return {
    ...rest,
    type: "file",
    mediaType: type,
    ...omitUndefined({ data: source.data, url: source.url, filename }),
  };
}

function fileSource(
  data: string | Uint8Array | undefined,
  url: string | undefined,
): { data?: string; url?: string; mediaType?: string } {
  if (data instanceof Uint8Array) return { data: base64Of(data), ...omitUndefined({ url }) };
  const dataUrl = data === undefined ? null : /^data:([^;,]*)[^,]*;base64,(.*)$/s.exec(data);
  if (dataUrl !== null) {
    const [, mediaType = "", base64 = ""] = dataUrl;
    return {
      data: base64,
      ...(mediaType === "" ? {} : { mediaType }),
      ...omitUndefined({ url }),
    };
  }
  if (data === undefined || data === "") return url === undefined ? { data: "" } : { url };
  if (!data.includes(":")) return { data, ...omitUndefined({ url }) };
  return { url: url ?? data };
}

/** Encodes the bytes in base64, in pieces that fit the argument limit of a call. */
export function base64Of(bytes: Uint8Array): string {
  let binary = "";
  for (let start = 0; start < bytes.length; start += 0x2000) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 0x2000));
  }
  return btoa(binary);
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isOptional(value: unknown, type: "string"): value is string | undefined;
function isOptional(value: unknown, type: "number"): value is number | undefined;
function isOptional(value: unknown, type: "boolean"): value is boolean | undefined;
function isOptional(value: unknown, type: "string" | "number" | "boolean"): boolean {
  return value === undefined || typeof value === type;
}
