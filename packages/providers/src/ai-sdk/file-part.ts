import type { FileContentPart } from "@parley/core/messages";
import type { FilePart, TextPart } from "ai";
import { wellFormed } from "../call/well-formed.js";

const imageType = /^image\/(?:png|jpeg|gif|webp)$/;
const textType = /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|javascript|sql|toml)\b)|\+(?:json|xml)$/;
const mediaTypeShape = /^[a-z]+\/[a-z0-9.+*-]+$/;
const dataUrl = /^data:([^;,]+);base64,(.*)$/is;

/**
 * A file as the AI SDK takes it: its bytes or its address, with its type. Texts are sent as text, which every
 * model reads. What is neither valid base64 nor a web address becomes a line that says so.
 */
export function filePart(file: FileContentPart): FilePart | TextPart {
  const inline = dataUrl.exec(file.url ?? "");
  const data = validBase64(file.data || inline?.[2]);
  const mediaType = (file.mediaType || inline?.[1] || "").toLowerCase().replace("image/jpg", "image/jpeg");
  if (!mediaTypeShape.test(mediaType)) return fileNote(file);
  // A kind of image that models do not read would be refused and take the whole request with it.
  if (mediaType.startsWith("image/") && !imageType.test(mediaType)) return fileNote(file);
  const name = file.filename ? { filename: wellFormed(file.filename) } : {};
  if (data !== undefined && textType.test(mediaType)) {
    return { type: "text", text: `${nameOf(file)}:\n\n${decodeText(data)}` };
  }
  if (data !== undefined) return { type: "file", data, mediaType, ...name };
  const url = webUrl(file.url);
  return url === undefined ? fileNote(file) : { type: "file", data: url, mediaType, ...name };
}

/** A line that stands for a file, for places where no file may be. */
export function fileNote(file: FileContentPart): TextPart {
  const url = webUrl(file.url);
  const where = url === undefined ? "" : `, ${url.href}`;
  const text = `[${nameOf(file)} (${file.mediaType || "unknown type"}${where}) cannot be shown]`;
  return { type: "text", text: wellFormed(text) };
}

function nameOf(file: FileContentPart): string {
  return file.filename ? wellFormed(`File ${file.filename}`) : "File";
}

function webUrl(text: string | undefined): URL | undefined {
  if (text === undefined || !/^https?:\/\/\S+$/i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text);
}

/** Base64 with its padding; undefined for an empty text and for what is not base64 at all. */
function validBase64(data: string | undefined): string | undefined {
  const bare = data?.replace(/=+$/, "");
  if (bare === undefined || bare === "" || bare.length % 4 === 1 || !/^[A-Za-z0-9+/]+$/.test(bare)) {
    return undefined;
  }
  return bare.padEnd(Math.ceil(bare.length / 4) * 4, "=");
}

function decodeText(base64: string): string {
  const binary = atob(base64);
  return new TextDecoder().decode(Uint8Array.from(binary, (unit) => unit.charCodeAt(0)));
}
