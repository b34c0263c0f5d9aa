import type { FileForm, ProviderFile } from "@parley/core/ports";
import { kindOf } from "./read-file.js";

const megabyte = 2 ** 20;

/** Files that an API accepts, by its documentation. */
export interface FileRules {
  /** Absent: images are not accepted. */
  readonly images?: {
    /** Maximum bytes of one image. */
    readonly maxBytes: number;
    /** Maximum pixels of either side, if larger images are refused. */
    readonly maxSide?: number;
    /** Returns the tokens of an image of this size in pixels; the size is undefined if unknown. */
    tokens(size: PixelSize | undefined): number;
  };
  /** Absent: PDF documents are not accepted. */
  readonly documents?: { readonly maxBytes: number };
}

/** Width and height in pixels. */
export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/** Maximum bytes of a file that is sent as text: a longer one would fill most windows. */
const mostTextBytes = megabyte;
/** Text has at least this many bytes per token in almost all languages. */
const bytesPerToken = 3;
/**
 * Estimates for a PDF, whose pages are not counted before it is sent: bytes per page, tokens per page (as
 * text and as a picture, upper bound), and the maximum number of pages of a document.
 */
const pageBytes = 50_000;
const pageTokens = 3_000;
const mostPages = 100;

/** Returns the form in which an API with these rules accepts a file. */
export function fileFormBy(rules: FileRules, file: ProviderFile): FileForm {
  const { size } = file;
  if (size === 0) return note("it is empty");
  switch (kindOf(file.mediaType)) {
    case "image":
      return imageForm(rules.images, file);
    case "pdf": {
      const { documents } = rules;
      if (documents === undefined) return note("this model does not accept PDF documents");
      if (size > documents.maxBytes) return tooLarge("documents", documents.maxBytes);
      const pages = Math.min(mostPages, Math.ceil(size / pageBytes));
      return { as: "document", tokens: pages * pageTokens };
    }
    case "text":
      if (size > mostTextBytes) return tooLarge("texts", mostTextBytes);
      return { as: "text", tokens: Math.ceil(size / bytesPerToken) };
    default:
      return note("this model does not accept files of this type");
  }
}

function imageForm(rules: FileRules["images"], { size, width, height }: ProviderFile): FileForm {
  if (rules === undefined) return note("this model does not accept images");
  if (size > rules.maxBytes) return tooLarge("images", rules.maxBytes);
  const pixels = width === undefined || height === undefined ? undefined : { width, height };
  if (pixels !== undefined && rules.maxSide !== undefined) {
    const { maxSide } = rules;
    if (Math.max(pixels.width, pixels.height) > maxSide) {
      return note(`this model accepts images of up to ${maxSide} pixels on either side`);
    }
  }
  return { as: "image", tokens: rules.tokens(pixels) };
}

function tooLarge(what: string, maxBytes: number): FileForm {
  return note(`this model accepts ${what} of up to ${Math.floor((maxBytes / megabyte) * 10) / 10} MB`);
}

function note(reason: string): FileForm {
  return { as: "note", reason };
}
