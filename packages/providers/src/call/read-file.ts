import type { FileContentPart } from "@parley/core/messages";
import { omitUndefined } from "@parley/core/messages";
import { wellFormed } from "./well-formed.js";

/** The sendable information about a file: its kind, its bytes, its URL. */
export interface ReadableFile {
  /** The kind of content for a model. Only these image types are read by models of any provider. */
  readonly kind: "image" | "pdf" | "text" | "other";
  /** In lower case, with the usual name for JPEG; empty if unknown. */
  readonly mediaType: string;
  /** Valid base64 with its padding. */
  readonly data?: string;
  /** A web URL that can be parsed. */
  readonly url?: string;
}

const imageType = /^image\/(?:png|jpeg|gif|webp)$/;
const textType = /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|javascript|sql|toml)\b)|\+(?:json|xml)$/;
const dataUrl = /^data:([^;,]+);base64,(.*)$/is;

/** Reads a file part. Data that is not valid base64, and addresses that are not web URLs, are omitted. */
export function readFile(file: FileContentPart): ReadableFile {
  const inline = dataUrl.exec(file.url ?? "");
  const mediaType = (file.mediaType || inline?.[1] || "").toLowerCase().replace("image/jpg", "image/jpeg");
  const data = padded(file.data || inline?.[2]);
  const url = webUrl(file.url);
  return {
    kind: kindOf(mediaType),
    mediaType,
    ...omitUndefined({ data, url }),
  };
}

/** Returns the kind of a media type, which is in lower case. */
export function kindOf(mediaType: string): ReadableFile["kind"] {
  if (imageType.test(mediaType)) return "image";
  if (mediaType === "application/pdf") return "pdf";
  return textType.test(mediaType) ? "text" : "other";
}

/** Returns a line for a file which cannot be sent: the model knows about it, and nothing is refused. */
export function fileNoteText(file: FileContentPart): string {
  const { mediaType, url } = readFile(file);
  const where = url === undefined ? "" : `, ${url}`;
  return wellFormed(`[${nameOf(file)} (${mediaType || "unknown type"}${where}) cannot be shown]`);
}

/** Returns the content of a text file under its name. */
export function namedText(file: FileContentPart, data: string): string {
  return wellFormed(`${nameOf(file)}:\n\n${decodeText(data)}`);
}

/** Decodes base64 as text; invalid text becomes replacement characters. */
export function decodeText(base64: string): string {
  const binary = atob(base64);
  return new TextDecoder().decode(Uint8Array.from(binary, (unit) => unit.charCodeAt(0)));
}

function nameOf(file: FileContentPart): string {
  return file.filename ? `File ${file.filename}` : "File";
}

function webUrl(url: string | undefined): string | undefined {
  if (url === undefined || !/^https?:\/\/\S+$/i.test(url) || !URL.canParse(url)) return undefined;
  return wellFormed(url);
}

/** Returns base64 with its padding; undefined for an empty text and for invalid base64. */
function padded(data: string | undefined): string | undefined {
  const bare = data?.replace(/=+$/, "");
  if (bare === undefined || bare === "" || bare.length % 4 === 1 || !/^[A-Za-z0-9+/]+$/.test(bare)) {
    return undefined;
  }
  return bare.padEnd(Math.ceil(bare.length / 4) * 4, "=");
}
