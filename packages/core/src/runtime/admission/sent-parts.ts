import type { SentPart } from "@parley/wire";
import { invalidField, isParleyError, ParleyError } from "../../errors.js";
import type { MessageContentPart, StoredFilePart } from "../../messages/part.js";
import type { LogStore } from "../../ports/log-store.js";
import type { FileLimits } from "../files/file-limits.js";
import { type FilePlace, openFile } from "../files/opened-file.js";

/**
 * The parts of a message as they are kept. A file is named by its upload or by another message of the same owner; what
 * is kept is which bytes it has. The message refers to them from its admission on; where they are gone by then, the
 * store refuses it.
 */
export async function resolveParts(
  store: LogStore,
  parts: readonly SentPart[],
  limits: Pick<FileLimits, "messageFiles" | "messageFileBytes">,
): Promise<MessageContentPart[]> {
  const files = parts.filter(({ type }) => type === "file").length;
  if (files > limits.messageFiles) {
    throw tooLarge(`A message may have ${limits.messageFiles} files (messageFiles)`, limits.messageFiles);
  }
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
  if (bytes > limits.messageFileBytes) {
    const limit = limits.messageFileBytes;
    throw tooLarge(`The files of a message may come to ${limit} bytes (messageFileBytes)`, limit);
  }
  return resolved;
}

async function resolveFile(store: LogStore, place: FilePlace, name: string): Promise<StoredFilePart> {
  try {
    const { name: filename, mediaType, size, hash } = await openFile(store, place);
    return { type: "file", mediaType, size, hash, filename };
  } catch (error) {
    if (!isParleyError(error) || error.code !== "conversation_not_found") throw error;
    throw invalidField(name, "there is no such file, or it has expired; upload it again");
  }
}

function tooLarge(message: string, limit: number): ParleyError {
  return new ParleyError("too_large", message, { details: { limit } });
}
