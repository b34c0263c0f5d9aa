import type { UploadInfo } from "@parley/wire";
import type { Attachments } from "../files/use-attachments.js";
import type { ComposerFieldHandle } from "./composer-field.js";

/** Takes the written text and its files. Undefined if there is nothing to send, or a file is not ready. */
export function takeMessage(
  field: ComposerFieldHandle | null,
  attachments: Attachments,
): { readonly text: string; readonly files: readonly UploadInfo[] | undefined } | undefined {
  if (field === null) return undefined;
  if (attachments.list.length === 0) {
    const text = field.take(false);
    return text === undefined ? undefined : { text, files: undefined };
  }
  const files = attachments.take();
  if (files === undefined) return undefined;
  const text = field.take(files.length > 0);
  return text === undefined ? undefined : { text, files };
}
