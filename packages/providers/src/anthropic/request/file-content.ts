import type { FileContentPart } from "@parley/core/messages";
import { decodeText, fileNoteText, readFile } from "../../call/read-file.js";
import { wellFormed } from "../../call/well-formed.js";
import type { DocumentBlock, ImageBlock, TextBlock } from "../api-types.js";
import { isBlank } from "./blank-text.js";

/**
 * Converts a file for the API: images and PDF documents as such, texts as documents of plain text. A file
 * that the API does not accept becomes a line that says so: the model knows about the file, and the request
 * is not refused.
 */
export function fileBlock(file: FileContentPart): ImageBlock | DocumentBlock | TextBlock {
  const { kind, mediaType, data, url } = readFile(file);
  if (kind === "image") {
    if (data !== undefined) {
      return { type: "image", source: { type: "base64", media_type: mediaType, data } };
    }
    if (url !== undefined) return { type: "image", source: { type: "url", url } };
  } else if (kind === "pdf") {
    const title = titleOf(file);
    if (data !== undefined) {
      const source = { type: "base64", media_type: "application/pdf", data } as const;
      return { type: "document", source, ...title };
    }
    if (url !== undefined) return { type: "document", source: { type: "url", url }, ...title };
  } else if (kind === "text" && data !== undefined) {
    const text = decodeText(data);
    if (isBlank(text)) return fileNote(file);
    const source = { type: "text", media_type: "text/plain", data: text } as const;
    return { type: "document", source, ...titleOf(file) };
  }
  return fileNote(file);
}

/** Returns a line that represents a file, for places where files are not allowed. */
export function fileNote(file: FileContentPart): TextBlock {
  return { type: "text", text: fileNoteText(file) };
}

const longestTitle = 255;

function titleOf({ filename }: FileContentPart): { title?: string } {
  const title = wellFormed(filename ?? "").slice(0, longestTitle);
  return isBlank(title) ? {} : { title: wellFormed(title) };
}
