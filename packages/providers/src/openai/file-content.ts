import type { FileContentPart } from "@parley/core/messages";
import { fileNoteText, namedText, readFile } from "../call/read-file.js";

/** The form in which a file is shown to a model. */
export type FileForm =
  | { readonly kind: "image"; readonly url: string }
  | { readonly kind: "document"; readonly filename: string; readonly data: string }
  | { readonly kind: "document-url"; readonly url: string }
  | { readonly kind: "text"; readonly text: string };

/**
 * Returns the form in which a file can be sent. Images and PDF documents are sent as such, texts as text. A
 * file that models do not accept becomes a line that says so: the model knows about the file, and the request
 * is not refused.
 */
export function fileForm(file: FileContentPart): FileForm {
  const { kind, mediaType, data, url } = readFile(file);
  if (kind === "image") {
    if (data !== undefined) return { kind: "image", url: `data:${mediaType};base64,${data}` };
    if (url !== undefined) return { kind: "image", url };
  } else if (kind === "pdf") {
    const filename = file.filename || "document.pdf";
    if (data !== undefined) return { kind: "document", filename, data: `data:${mediaType};base64,${data}` };
    if (url !== undefined) return { kind: "document-url", url };
  } else if (kind === "text" && data !== undefined) {
    return { kind: "text", text: namedText(file, data) };
  }
  return { kind: "text", text: fileNoteText(file) };
}
