import type { FileContentPart } from "@parley/core/messages";

/** How a file can be shown to a model. */
export type FileForm =
  | { readonly kind: "image"; readonly url: string }
  | { readonly kind: "document"; readonly filename: string; readonly data: string }
  | { readonly kind: "document-url"; readonly url: string }
  | { readonly kind: "text"; readonly text: string };

const imageType = /^image\/(?:png|jpe?g|gif|webp)$/i;
const textType = /^(?:text\/|application\/(?:json|xml|yaml|x-yaml|javascript|sql|toml)\b)|\+(?:json|xml)$/i;
const webUrl = /^https?:\/\/\S+$/i;
const dataUrl = /^data:([^;,]+);base64,(.*)$/is;

/**
 * The form in which a file can be sent. Images and PDF documents are sent as such, texts as text. What models
 * do not take becomes a line that says so: the model knows about the file, and the request is not refused.
 */
export function fileForm(file: FileContentPart): FileForm {
  const inline = dataUrl.exec(file.url ?? "");
  const data = padded(file.data === undefined || file.data === "" ? inline?.[2] : file.data);
  const mediaType = (file.mediaType === "" ? inline?.[1] : file.mediaType) ?? "";
  const url = file.url !== undefined && webUrl.test(file.url) ? file.url : undefined;
  if (imageType.test(mediaType)) {
    if (data !== undefined) return { kind: "image", url: `data:${mediaType.toLowerCase()};base64,${data}` };
    if (url !== undefined) return { kind: "image", url };
  } else if (/^application\/pdf$/i.test(mediaType)) {
    const filename = file.filename || "document.pdf";
    if (data !== undefined)
      return { kind: "document", filename, data: `data:application/pdf;base64,${data}` };
    if (url !== undefined) return { kind: "document-url", url };
  } else if (textType.test(mediaType) && data !== undefined) {
    return { kind: "text", text: `${nameOf(file)}:\n\n${decodeText(data)}` };
  }
  return unsent(file, mediaType, url);
}

function unsent(file: FileContentPart, mediaType: string, url?: string): FileForm {
  const where = url === undefined ? "" : `, ${url}`;
  return { kind: "text", text: `[${nameOf(file)} (${mediaType || "unknown type"}${where}) cannot be shown]` };
}

function nameOf(file: FileContentPart): string {
  return file.filename ? `File ${file.filename}` : "File";
}

/** Base64 with its padding; undefined for an empty text and for what is not base64 at all. */
function padded(data: string | undefined): string | undefined {
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

/** Whether an API takes this as the address of an image. */
export function isImageUrl(url: unknown): boolean {
  return (
    typeof url === "string" &&
    /^(?:https?:\/\/\S+|data:image\/(?:png|jpe?g|gif|webp);base64,(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==))$/i.test(
      url,
    )
  );
}
