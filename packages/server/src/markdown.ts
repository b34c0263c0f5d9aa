import { isFileChunk } from "@parley/fold";
import type { Chunk, ExportLine, Role, StoredChunk } from "@parley/wire";

const names: Readonly<Record<Role, string>> = {
  user: "User",
  assistant: "Assistant",
  tool: "Tool",
  system: "System",
};

/** Formats a conversation for reading: headings by role, the texts as they are, tools as code. */
export async function* toMarkdown(lines: AsyncIterable<ExportLine>): AsyncGenerator<string> {
  let last: Pick<StoredChunk, "messageId" | "role"> | undefined;
  for await (const line of lines) {
    if (line.type === "conversation") {
      const { title, id, createdAt } = line.conversation;
      yield `# ${oneLine(title === "" ? id : title)}\n\n${new Date(createdAt).toISOString()}\n`;
    } else if (line.type === "chunk") {
      const isNext = last?.role !== line.role || (line.role === "user" && last.messageId !== line.messageId);
      last = line;
      const text = chunkText(line.chunk);
      if (text === "") continue;
      yield `${isNext ? `\n## ${names[line.role]}\n` : ""}\n${text}\n`;
    }
  }
}

/** Formats a chunk as Markdown; empty if there is nothing to read. */
export function chunkText(chunk: Chunk): string {
  switch (chunk.type) {
    case "text":
      return isFileChunk(chunk) ? `*File: ${oneLine(chunk.text)}*` : chunk.text;
    case "system":
      return quote(chunk.text);
    case "thinking":
      return chunk.text === "" ? "" : quote(chunk.text);
    case "tool-call":
      return `**${oneLine(chunk.toolName)}**\n\n${fence(chunk.argumentsText ?? JSON.stringify(chunk.input), "json")}`;
    case "tool-result":
      return `**${oneLine(chunk.toolName)}**${chunk.isError ? " (failed)" : ""}\n\n${fence(chunk.content)}`;
    case "error":
      return `**Error**: ${chunk.message}`;
    case "source":
      return chunk.url === undefined
        ? `*Source: ${oneLine(chunk.title ?? chunk.id ?? "unnamed")}*`
        : `*Source: <${oneLine(chunk.url)}>*`;
    case "data":
      return fence(JSON.stringify(chunk.data, undefined, 2) ?? "", "json");
    default:
      return chunk satisfies never;
  }
}

function quote(text: string): string {
  return text
    .split("\n")
    .map((line) => (line === "" ? ">" : `> ${line}`))
    .join("\n");
}

/** Returns a fence longer than any inside. */
function fence(text: string, language = ""): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  const marks = "`".repeat(longest + 1);
  return `${marks}${language}\n${text}\n${marks}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
