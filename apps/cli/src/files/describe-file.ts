import { sizeText } from "@parley/fold";
import type { UploadInfo } from "@parley/wire";

/** Formats a file on one line: its name, its type and its size. */
export function describeFile({
  name,
  mediaType,
  size,
}: Pick<UploadInfo, "name" | "mediaType" | "size">): string {
  return `${name} (${mediaType}, ${sizeText(size)})`;
}
