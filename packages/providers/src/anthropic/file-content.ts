import type { FileContentPart } from "@parley/core/messages";
import { wellFormed } from "../call/well-formed.js";
import type { DocumentBlock, ImageBlock, TextBlock } from "./api-types.js";
import { isBlank } from "./blank-text.js";

const imageType = /^image\/(?:png|jpeg|gif|webp)$/;
const textType = /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|javascript|sql|toml)\b)|\+(?:json|xml)$/;
const webUrl = /^https?:\/\/[^\s]+$/i;
const dataUrl = /^data:([^;,]+);base64,(.*)$/is;

/**
 * A file as the API takes it: images and PDF documents as such, texts as documents of plain text. What the API
 * does not take becomes a line that says so: the model knows about the file, and the request is not refused.
 */
export function fileBlock(file: FileContentPart): ImageBlock | DocumentBlock | TextBlock {
  const inline = dataUrl.exec(file.url ?? "");
  const data = file.data || inline?.[2] || undefined;
  const mediaType = (file.mediaType || inline?.[1] || "").toLowerCase().replace("image/jpg", "image/jpeg");
  const url = file.url !== undefined && webUrl.test(file.url) ? wellFormed(file.url) : undefined;
  if (data !== undefined && !isBase64(data)) return fileNote(file);
  if (imageType.test(mediaType)) {
    if (data !== undefined) {
      return { type: "image", source: { type: "base64", media_type: mediaType, data } };
    }
    if (url !== undefined) return { type: "image", source: { type: "url", url } };
  } else if (mediaType === "application/pdf") {
    const title = titleOf(file);
    if (data !== undefined) {
      const source = { type: "base64", media_type: "application/pdf", data } as const;
      return { type: "document", source, ...title };
    }
    if (url !== undefined) return { type: "document", source: { type: "url", url }, ...title };
  } else if (textType.test(mediaType) && data !== undefined) {
    const text = decodeText(data);
    if (isBlank(text)) return fileNote(file);
    const source = { type: "text", media_type: "text/plain", data: text } as const;
    return { type: "document", source, ...titleOf(file) };
  }
  return fileNote(file);
}

/** A line that stands for a file, for places where no file may be. */
export function fileNote(file: FileContentPart): TextBlock {
  const name = file.filename ? `File ${file.filename}` : "File";
  const where = file.url !== undefined && webUrl.test(file.url) ? `, ${file.url}` : "";
  const text = `[${name} (${file.mediaType || "unknown type"}${where}) cannot be shown]`;
  return { type: "text", text: wellFormed(text) };
}

const longestTitle = 255;

function titleOf({ filename }: FileContentPart): { title?: string } {
  const title = wellFormed(filename ?? "").slice(0, longestTitle);
  return isBlank(title) ? {} : { title: wellFormed(title) };
}

function isBase64(data: string): boolean {
  return data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
}

function decodeText(base64: string): string {
  const binary = atob(base64);
  return new TextDecoder().decode(Uint8Array.from(binary, (unit) => unit.charCodeAt(0)));
}
