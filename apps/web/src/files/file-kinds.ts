import { type FileOfMessage, fileAddress } from "@parley/client/files";
import { visibleRuns } from "../input/visible-text.js";

/** Types of pictures that the server sends to be shown in place. */
const pictureType = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;
/** Types of pictures that the server makes thumbnails of. */
const thumbnailType = /^image\/(?:png|jpeg|webp)$/;
/** Larger pictures are drawn only on request, unless there is a thumbnail. */
const mostShownBytes = 10_000_000;
/** The server makes no thumbnails of larger ones, and smaller ones need none. */
const mostThumbnailBytes = 32 * 2 ** 20;
const leastThumbnailBytes = 60_000;
const mostShownName = 300;

/** Returns true for a file that is drawn in place. */
export function isPicture({ mediaType, size }: Pick<FileOfMessage, "mediaType" | "size">): boolean {
  return pictureType.test(mediaType) && (size <= mostShownBytes || hasThumbnail({ mediaType, size }));
}

function hasThumbnail({ mediaType, size }: Pick<FileOfMessage, "mediaType" | "size">): boolean {
  return thumbnailType.test(mediaType) && size >= leastThumbnailBytes && size <= mostThumbnailBytes;
}

/** Returns true for a file that has a full view. */
export function hasFullView({ mediaType }: Pick<FileOfMessage, "mediaType">): boolean {
  return pictureType.test(mediaType);
}

/**
 * Returns the addresses of a small form of a picture, best first: a broken one has no thumbnail, and is shown as it is.
 */
export function thumbnailAddresses(conversationId: string, file: FileOfMessage): readonly string[] {
  const address = isPicture(file) ? fileAddress(conversationId, file) : undefined;
  if (address === undefined) return [];
  const whole = file.size <= mostShownBytes ? [address] : [];
  return hasThumbnail(file) ? [`${address}?variant=thumbnail`, ...whole] : whole;
}

/** Returns a name in which every character is visible, of a bounded length. */
export function shownName(name: string | undefined): string {
  const seen = visibleRuns((name ?? "file").slice(0, mostShownName))
    .map((run) => ("text" in run ? run.text : "\uFFFD"))
    .join("")
    .replaceAll(/\s+/g, " ");
  return seen.trim() === "" ? "file" : seen;
}

/** Splits a name into two parts; the second one, with the extension, is never cut off. */
export function splitName(name: string): readonly [start: string, end: string] {
  const characters = [...name];
  if (characters.length <= 20) return [name, ""];
  return [characters.slice(0, -8).join(""), characters.slice(-8).join("")];
}

const kinds: readonly (readonly [RegExp, string])[] = [
  [/^image\//, "Image"],
  [/^audio\//, "Audio"],
  [/^video\//, "Video"],
  [/pdf$/, "PDF"],
  [/zip|tar|gzip|compressed/, "Archive"],
  [/json|xml|script|html/, "Code"],
  [/^text\//, "Text"],
];

/** Returns the kind of a file in one word. */
export function kindWord(mediaType: string): string {
  return kinds.find(([pattern]) => pattern.test(mediaType))?.[1] ?? "File";
}
