import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { type ToolFile, type ToolOutput, toolOutput } from "@parley/core/turn";

/**
 * Converts the result of a call to text for the model, within a bound. Binary content becomes separate files,
 * only named in the text.
 */
export function readResult(result: CallToolResult, most: number): ToolOutput {
  const blocks = result.content ?? [];
  const texts = blocks.map(textOf).filter((text) => text !== "");
  // The standard requires the same content as text; a server that sends none has only this.
  if (texts.length === 0 && result.structuredContent !== undefined) {
    texts.push(JSON.stringify(result.structuredContent));
  }
  return toolOutput(bounded(texts.join("\n"), most), result.isError === true, blocks.flatMap(filesOf));
}

/** Returns the files of a block: they are stored, and shown to models that accept them. */
function filesOf(block: ContentBlock): ToolFile[] {
  if (block.type === "image" || block.type === "audio") {
    return [{ mediaType: plainLine(block.mimeType), data: Buffer.from(block.data, "base64") }];
  }
  if (block.type !== "resource" || !("blob" in block.resource)) return [];
  const { uri, mimeType = "application/octet-stream", blob } = block.resource;
  const name = plainLine(uri).split("/").at(-1) ?? "file";
  return [{ mediaType: plainLine(mimeType), data: Buffer.from(blob, "base64"), name }];
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.type} ${plainLine(block.mimeType)}, ${byteLength(block.data)} bytes]`;
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return `${plainLine(resource.uri)}\n${resource.text}`;
      return `[file ${plainLine(resource.uri)}, ${plainLine(resource.mimeType ?? "unknown type")}, ${byteLength(resource.blob)} bytes]`;
    }
    case "resource_link":
      return `[link ${plainLine(block.name)}: ${plainLine(block.uri)}]`;
    default:
      return "";
  }
}

/** Returns the number of bytes that base64 encodes. */
function byteLength(base64: string): number {
  return Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
}

function plainLine(text: string): string {
  return text.replace(/\s+/g, " ").slice(0, 500);
}

function bounded(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most);
  // Do not cut between the two halves of a surrogate pair.
  const end = /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
  return `${end}\n[cut: ${text.length - end.length} of ${text.length} characters are left out]`;
}
