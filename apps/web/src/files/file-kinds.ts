import { type FileOfMessage, fileAddress } from "@parley/client/files";
import { visibleRuns } from "../input/visible-text.js";

/** Types of pictures that the server sends to be shown in place. */
const pictureType = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;
/** Types of which the server makes small pictures, and the sizes for which that is worth it and possible. */
const thumbnailType = /^image\/(?:png|jpeg|webp)$/;
const thumbnailBytes = { least: 60_000, most: 32 * 2 ** 20 };
/** Larger pictures are drawn only on demand, unless the server has a small one. */
const mostShownBytes = 10_000_000;
const mostShownName = 300;

/** Returns true for a file that is drawn where it stands. */
export function isPicture({ mediaType, size }: Pick<FileOfMessage, "mediaType" | "size">): boolean {
  return pictureType.test(mediaType) && (size <= mostShownBytes || hasThumbnail({ mediaType, size }));
}

/** Returns true for a file that has a full view. */
export function hasFullView({ mediaType }: Pick<FileOfMessage, "mediaType">): boolean {
  return pictureType.test(mediaType);
}

function hasThumbnail({ mediaType, size }: Pick<FileOfMessage, "mediaType" | "size">): boolean {
  return thumbnailType.test(mediaType) && size >= thumbnailBytes.least && size <= thumbnailBytes.most;
}

/** The address of a small form of a picture; of a small picture, the picture itself. */
export function thumbnailAddress(conversationId: string, file: FileOfMessage): string | undefined {
  const address = isPicture(file) ? fileAddress(conversationId, file) : undefined;
  return address !== undefined && hasThumbnail(file) ? `${address}?variant=thumbnail` : address;
}

/** A name in which every character can be seen, of a bounded length. */
export function shownName(name: string | undefined): string {
  const seen = visibleRuns((name ?? "file").slice(0, mostShownName))
    .map((run) => ("text" in run ? run.text : "\uFFFD"))
    .join("")
    .replaceAll(/\s+/g, " ");
  return seen.trim() === "" ? "file" : seen;
}

/** A name in two parts, of which the second one, with the ending, is never cut off. */
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

/** The kind of a file in a word. */
export function kindWord(mediaType: string): string {
  return kinds.find(([pattern]) => pattern.test(mediaType))?.[1] ?? "File";
}
