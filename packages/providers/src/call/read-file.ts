import type { FileContentPart } from "@parley/core/messages";
import { omitUndefined } from "@parley/core/messages";
import { wellFormed } from "./well-formed.js";

/** A file as far as it can be sent: what it is, its bytes, its address. */
export interface ReadableFile {
  /** What a model may make of it. Only these images are read by models of any provider. */
  readonly kind: "image" | "pdf" | "text" | "other";
  /** In lower case, with the usual name for JPEG; empty where nobody says it. */
  readonly mediaType: string;
  /** Valid base64 with its padding. */
  readonly data?: string;
  /** An address on the web that can be parsed. */
  readonly url?: string;
}

const imageType = /^image\/(?:png|jpeg|gif|webp)$/;
const textType = /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|javascript|sql|toml)\b)|\+(?:json|xml)$/;
const dataUrl = /^data:([^;,]+);base64,(.*)$/is;

/** Reads a file part. What is neither valid base64 nor an address on the web is left out. */
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

/** The use of a file of this type, which is in lower case, to a model. */
export function kindOf(mediaType: string): ReadableFile["kind"] {
  if (imageType.test(mediaType)) return "image";
  if (mediaType === "application/pdf") return "pdf";
  return textType.test(mediaType) ? "text" : "other";
}

/** A line that stands for a file which cannot be sent: the model knows about it, and nothing is refused. */
export function fileNoteText(file: FileContentPart): string {
  const { mediaType, url } = readFile(file);
  const where = url === undefined ? "" : `, ${url}`;
  return wellFormed(`[${nameOf(file)} (${mediaType || "unknown type"}${where}) cannot be shown]`);
}

/** A file that is a text, as text under its name. */
export function namedText(file: FileContentPart, data: string): string {
  return wellFormed(`${nameOf(file)}:\n\n${decodeText(data)}`);
}

/** The text that base64 stands for; what is no text becomes replacement characters. */
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

/** Base64 with its padding; undefined for an empty text and for what is not base64 at all. */
function padded(data: string | undefined): string | undefined {
  const bare = data?.replace(/=+$/, "");
  if (bare === undefined || bare === "" || bare.length % 4 === 1 || !/^[A-Za-z0-9+/]+$/.test(bare)) {
    return undefined;
  }
  return bare.padEnd(Math.ceil(bare.length / 4) * 4, "=");
}
