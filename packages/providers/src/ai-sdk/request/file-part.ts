import type { FileContentPart } from "@parley/core/messages";
import type { FilePart, TextPart } from "ai";
import { fileNoteText, namedText, readFile } from "../../call/read-file.js";
import { wellFormed } from "../../call/well-formed.js";

const mediaTypeShape = /^[a-z]+\/[a-z0-9.+*-]+$/;

/**
 * A file as the AI SDK takes it: its bytes or its address, with its type. Texts are sent as text, which every
 * model reads. What is neither valid base64 nor a web address becomes a line that says so.
 */
export function filePart(file: FileContentPart): FilePart | TextPart {
  const { kind, mediaType, data, url } = readFile(file);
  if (!mediaTypeShape.test(mediaType)) return fileNote(file);
  // A kind of image that models do not read would be refused and take the whole request with it.
  if (mediaType.startsWith("image/") && kind !== "image") return fileNote(file);
  const name = file.filename ? { filename: wellFormed(file.filename) } : {};
  if (data !== undefined && kind === "text") return { type: "text", text: namedText(file, data) };
  if (data !== undefined) return { type: "file", data, mediaType, ...name };
  return url === undefined ? fileNote(file) : { type: "file", data: new URL(url), mediaType, ...name };
}

/** A line that stands for a file, for places where no file may be. */
export function fileNote(file: FileContentPart): TextPart {
  return { type: "text", text: fileNoteText(file) };
}
