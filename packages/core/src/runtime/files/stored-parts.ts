import { isParleyError, ParleyError } from "../../errors.js";
import { imageSize } from "../../messages/image-size.js";
import type { FileContentPart, MessageContentPart, StoredFilePart } from "../../messages/part.js";
import { fromBase64 } from "../../messages/text/base64.js";
import type { LogStore } from "../../ports/log-store.js";
import type { FileLimits } from "./file-limits.js";
import { type IncomingFile, receiveUpload, uploadId } from "./receive-upload.js";

/**
 * Stores the files among parts that hold their bytes, and refers to them instead: a log holds no bytes. The uploads
 * last until the message that refers to them is written. A file that cannot be stored becomes a line with the reason.
 */
export async function storeParts(
  store: LogStore,
  parts: readonly MessageContentPart[],
  limits: FileLimits,
): Promise<MessageContentPart[]> {
  const stored: MessageContentPart[] = [];
  for (const part of parts) {
    if (!hasBytes(part)) stored.push(part);
    else stored.push(await storeFile(store, part, limits).catch((error: unknown) => note(part, error)));
  }
  return stored;
}

/** A file that holds its bytes. */
export type InlineFile = FileContentPart & { data: string };

export function hasBytes(part: MessageContentPart): part is InlineFile {
  return part.type === "file" && typeof part.data === "string" && part.data !== "";
}

/** Stores a file and refers to it. Its type is that of its bytes. Throws the refusal. */
export async function storeFile(
  store: LogStore,
  part: InlineFile,
  limits: FileLimits,
): Promise<StoredFilePart> {
  const { data, url: _, filename, mediaType: declared, ...rest } = part;
  const bytes = fromBase64(data);
  if (bytes === undefined || bytes.byteLength === 0) {
    throw new ParleyError("invalid_request", "The data of a file is not base64");
  }
  const incoming = await incomingFile(filename || `file.${endingOf(declared)}`, bytes);
  const { name, mediaType, size, hash } = await receiveUpload(store, uploadId(), incoming, limits);
  return { ...rest, type: "file", mediaType, size, hash, filename: name, ...imageSize(bytes) };
}

/** Returns the line that replaces a refused file; any other failure is thrown. */
function note({ filename, mediaType }: FileContentPart, error: unknown): MessageContentPart {
  const isRefused = isParleyError(error) && refusals.has(error.code);
  if (!isRefused) throw error;
  return { type: "text", text: `[${filename || "file"}, ${mediaType}: not stored. ${error.message}]` };
}

const refusals: ReadonlySet<string> = new Set(["too_large", "limit_exceeded", "invalid_request"]);

/** Returns bytes that are already in memory as a file to upload. */
async function incomingFile(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<IncomingFile> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  async function* once(): AsyncGenerator<Uint8Array> {
    yield bytes;
  }
  return { name, bytes: once(), hash: { update: () => {}, digest: () => hash } };
}

/** Returns the extension for a media type: `png` for `image/png`. */
function endingOf(mediaType: string): string {
  return /\/(?:x-)?([a-z0-9]{1,8})/i.exec(mediaType)?.[1]?.toLowerCase() ?? "bin";
}
