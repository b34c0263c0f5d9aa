import type { FileContentPart } from "@parley/core/messages";
import type { FilePart, TextPart } from "ai";
import { fileNoteText, namedText, readFile } from "../../call/read-file.js";
import { wellFormed } from "../../call/well-formed.js";

const mediaTypeShape = /^[a-z]+\/[a-z0-9.+*-]+$/;

/**
 * Converts a file for the AI SDK: its bytes or its URL, with its type. Text files are sent as text, which
 * every model reads. A file with neither valid base64 nor a web address becomes a line that says so.
 */
export function filePart(file: FileContentPart): FilePart | TextPart {
  const { kind, mediaType, data, url } = readFile(file);
  if (!mediaTypeShape.test(mediaType)) return fileNote(file);
  // An image type that models do not read would cause the whole request to be refused.
  if (mediaType.startsWith("image/") && kind !== "image") return fileNote(file);
  const name = file.filename ? { filename: wellFormed(file.filename) } : {};
  if (data !== undefined && kind === "text") return { type: "text", text: namedText(file, data) };
  if (data !== undefined) return { type: "file", data, mediaType, ...name };
  return url === undefined ? fileNote(file) : { type: "file", data: new URL(url), mediaType, ...name };
}

/** Returns a line that represents a file, for places where files are not allowed. */
export function fileNote(file: FileContentPart): TextPart {
  return { type: "text", text: fileNoteText(file) };
}
