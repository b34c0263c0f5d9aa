import type { Chunk, FileReference, InlineFile, TextChunk } from "@parley/wire";

/**
 * Creates the chunk of a file that the server has. Its text names the file, for clients that show no files.
 */
export function fileChunk(file: FileReference): TextChunk {
  return { type: "text", text: `[${file.name ?? "file"}, ${file.mediaType}, ${sizeText(file.size)}]`, file };
}

/** Creates the chunk of a file that the server does not have. */
export function inlineFileChunk(inline: InlineFile): TextChunk {
  return { type: "text", text: `[${inline.filename ?? "file"}, ${inline.mediaType}]`, inline };
}

/** Returns true for a placeholder: its text names a file and was not written by the user or the model. */
export function isFileChunk(chunk: Chunk): boolean {
  return chunk.type === "text" && (chunk.file !== undefined || chunk.inline !== undefined);
}

/**
 * Returns the text of a user message: its text chunks joined. A file is on a separate line, so that its
 * placeholder is not mistaken for the user's text.
 */
export function userText(chunks: readonly Chunk[]): string {
  let text = "";
  let wasFile = false;
  for (const chunk of chunks) {
    if (chunk.type !== "text") continue;
    const isFile = isFileChunk(chunk);
    const isApart = text !== "" && (isFile || wasFile);
    text += `${isApart ? "\n" : ""}${chunk.text}`;
    wasFile = isFile;
  }
  return text;
}

const units = ["KB", "MB", "GB"] as const;

/** Formats a number of bytes for people, in steps of 1,024, with at most one decimal. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  let value = bytes / 1024;
  let unit = 0;
  // A value that would be shown as 1024 of a unit is shown as 1 of the next.
  while (Math.round(value) >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value < 10 ? Math.round(value * 10) / 10 : Math.round(value)} ${units[unit]}`;
}
