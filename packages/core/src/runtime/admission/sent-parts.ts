import type { SentPart } from "@parley/wire";
import { invalidField, isParleyError, ParleyError } from "../../errors.js";
import { pieceBytes } from "../../messages/file-pieces.js";
import { type ImageSize, imageSize } from "../../messages/image-size.js";
import { isStoredFile, type MessageContentPart, type StoredFilePart } from "../../messages/part.js";
import type { LogStore } from "../../ports/log-store.js";
import type { FileLimits } from "../files/file-limits.js";
import { type FilePlace, type OpenedFile, openFile } from "../files/opened-file.js";
import { hasBytes, storeFile } from "../files/stored-parts.js";

/**
 * Returns the parts of a message as they are stored. A file is named by its upload or by another message of the same
 * owner; a reference to its bytes is stored. The message refers to them from its admission on; if they are gone by
 * then, the store refuses it.
 */
export async function resolveParts(
  store: LogStore,
  parts: readonly SentPart[],
  limits: Pick<FileLimits, "messageFiles" | "messageFileBytes">,
): Promise<MessageContentPart[]> {
  checkCount(parts, limits);
  const resolved: MessageContentPart[] = [];
  let bytes = 0;
  for (const [index, part] of parts.entries()) {
    if (part.type === "text") {
      resolved.push({ type: "text", text: part.text });
      continue;
    }
    const file = await resolveFile(store, part, `parts.${index}`);
    bytes += file.size;
    resolved.push(file);
  }
  checkBytes(bytes, limits);
  return resolved;
}

/**
 * Returns the content of a message that was given as parts, as it is stored: files with their bytes are stored, and
 * those that name a file of this server by its address refer to it. Content without files is returned as it is.
 */
export async function storeContent(
  store: LogStore,
  content: readonly MessageContentPart[],
  limits: FileLimits,
): Promise<readonly MessageContentPart[]> {
  if (!content.some(({ type }) => type === "file")) return content;
  checkCount(content, limits);
  const stored: MessageContentPart[] = [];
  let bytes = 0;
  for (const [index, part] of content.entries()) {
    const place = part.type === "file" ? placeOf(part.url) : undefined;
    const kept =
      place !== undefined
        ? await resolveFile(store, place, `message.${index}`)
        : hasBytes(part)
          ? await storeFile(store, part, limits)
          : part;
    if (isStoredFile(kept)) bytes += kept.size;
    stored.push(kept);
  }
  checkBytes(bytes, limits);
  return stored;
}

/**
 * Returns content in which files that are named by an address of this server refer to it. Bytes stay where they are.
 */
export async function resolveAddresses(
  store: LogStore,
  content: readonly MessageContentPart[],
): Promise<readonly MessageContentPart[]> {
  return Promise.all(
    content.map((part, index) => {
      const place = part.type === "file" ? placeOf(part.url) : undefined;
      return place === undefined ? part : resolveFile(store, place, `message.${index}`);
    }),
  );
}

/** Returns the file that an address of this server names; undefined for any other address. */
function placeOf(address: string | undefined): FilePlace | undefined {
  const [, conversationId, seq] = /^\/conversations\/([^/?#]+)\/files\/(\d{1,15})$/.exec(address ?? "") ?? [];
  if (conversationId === undefined || seq === undefined) return undefined;
  try {
    return { conversationId: decodeURIComponent(conversationId), seq: Number(seq) };
  } catch {
    return undefined;
  }
}

function checkCount(
  parts: readonly { readonly type: string }[],
  { messageFiles }: Pick<FileLimits, "messageFiles">,
): void {
  if (parts.filter(({ type }) => type === "file").length <= messageFiles) return;
  throw tooLarge(`A message may have at most ${messageFiles} files (messageFiles)`, messageFiles);
}

function checkBytes(bytes: number, { messageFileBytes }: Pick<FileLimits, "messageFileBytes">): void {
  if (bytes <= messageFileBytes) return;
  throw tooLarge(
    `The files of a message may come to ${messageFileBytes} bytes (messageFileBytes)`,
    messageFileBytes,
  );
}

async function resolveFile(store: LogStore, place: FilePlace, name: string): Promise<StoredFilePart> {
  try {
    const file = await openFile(store, place);
    const { name: filename, mediaType, size, hash } = file;
    return { type: "file", mediaType, size, hash, filename, ...(await sizeOfImage(file)) };
  } catch (error) {
    if (!isParleyError(error) || error.code !== "conversation_not_found") throw error;
    throw invalidField(name, "there is no such file, or it has expired; upload it again");
  }
}

/** Returns the size of an image in pixels, from the first piece of its bytes. */
async function sizeOfImage({ mediaType, size, read }: OpenedFile): Promise<ImageSize | undefined> {
  if (!mediaType.startsWith("image/")) return undefined;
  for await (const head of read(0, Math.min(size, pieceBytes))) return imageSize(head);
  return undefined;
}

function tooLarge(message: string, limit: number): ParleyError {
  return new ParleyError("too_large", message, { details: { limit } });
}
