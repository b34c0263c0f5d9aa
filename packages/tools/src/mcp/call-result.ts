import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { type ToolOutput, toolOutput } from "@parley/core/turn";

/** Turns the result of a call into a text for the model, within a bound. Bytes are named, never written out. */
export function readResult(result: CallToolResult, most: number): ToolOutput {
  const texts = (result.content ?? []).map(textOf).filter((text) => text !== "");
  // The standard asks for the same content as text; a server that sends none has only this.
  if (texts.length === 0 && result.structuredContent !== undefined) {
    texts.push(JSON.stringify(result.structuredContent));
  }
  return toolOutput(bounded(texts.join("\n"), most), result.isError === true);
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

/** Bytes that base64 stands for. */
function byteLength(base64: string): number {
  return Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
}

function plainLine(text: string): string {
  return text.replace(/\s+/g, " ").slice(0, 500);
}

function bounded(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most);
  // Not between the two halves of a character.
  const end = /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
  return `${end}\n[cut: ${text.length - end.length} of ${text.length} characters are left out]`;
}
