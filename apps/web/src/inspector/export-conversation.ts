import type { ParleyClient } from "@parley/client";
import { saveBlob } from "../ui/download.js";

/** The forms that a conversation can be saved in. */
export type ExportFormat = "markdown" | "jsonl";

const forms = {
  markdown: { ending: "md", mediaType: "text/markdown;charset=utf-8" },
  jsonl: { ending: "jsonl", mediaType: "application/jsonl;charset=utf-8" },
} as const;

/** Reads a whole conversation and passes it to the browser as a download. */
export async function saveConversation(
  client: ParleyClient,
  conversation: { readonly id: string; readonly title?: string | undefined },
  format: ExportFormat,
): Promise<void> {
  const pieces: string[] = [];
  for await (const piece of client.exportConversation(conversation.id, format)) pieces.push(piece);
  saveBlob(new Blob(pieces, { type: forms[format].mediaType }), exportName(conversation, format));
}

/**
 * Returns the name of the file: the title without characters that cause problems in file systems and terminals, or else
 * the conversation's id.
 */
export function exportName(
  { id, title = "" }: { readonly id: string; readonly title?: string | undefined },
  format: ExportFormat,
): string {
  const plain = title
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
  const name = [...plain].slice(0, 60).join("").replace(/-+$/, "");
  return `${name === "" ? id.replace(/[^A-Za-z0-9._-]/g, "-") : name}.${forms[format].ending}`;
}
