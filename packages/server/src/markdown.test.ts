import type { Chunk, ExportLine, Role } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { toMarkdown } from "./markdown.js";

async function markdownOf(parts: readonly (readonly [Role, Chunk])[], title = "A title"): Promise<string> {
  const lines: ExportLine[] = [
    {
      type: "conversation",
      format: "parley.conversation.1",
      conversation: { id: "c1", title, status: "idle", createdAt: 0, lastActivityAt: 0 },
      lastSeq: parts.length,
    },
    ...parts.map(([role, chunk], index) => ({
      type: "chunk" as const,
      seq: index + 1,
      role,
      chunk,
      messageId: `m${index}`,
    })),
  ];
  let text = "";
  const source = (async function* () {
    yield* lines;
  })();
  for await (const piece of toMarkdown(source)) text += piece;
  return text;
}

describe("a conversation as Markdown", () => {
  it("has a heading for each who speaks, and texts as they are", async () => {
    const text = await markdownOf([
      ["user", { type: "text", text: "What is *this*?" }],
      ["assistant", { type: "thinking", text: "Hm.\n\nLet me see." }],
      ["assistant", { type: "text", text: "A `test`." }],
    ]);
    expect(text).toBe(
      "# A title\n\n1970-01-01T00:00:00.000Z\n\n## User\n\nWhat is *this*?\n\n## Assistant\n\n> Hm.\n>\n> Let me see.\n\nA `test`.\n",
    );
  });

  it("fences tools so that nothing inside ends the fence", async () => {
    const text = await markdownOf([
      [
        "assistant",
        { type: "tool-call", toolCallId: "1", toolName: "read", input: {}, argumentsText: '{"a":1}' },
      ],
      [
        "tool",
        {
          type: "tool-result",
          toolCallId: "1",
          toolName: "read",
          content: "```js\n````\n```",
          isError: true,
        },
      ],
    ]);
    expect(text).toContain('**read**\n\n```json\n{"a":1}\n```\n');
    expect(text).toContain("**read** (failed)\n\n`````\n```js\n````\n```\n`````\n");
  });

  it("has a line for every other kind of part", async () => {
    const text = await markdownOf(
      [
        [
          "user",
          {
            type: "text",
            text: "[a.png, image/png]",
            inline: { mediaType: "image/png", filename: "a.png", data: "AAAA" },
          },
        ],
        ["assistant", { type: "source", url: "https://example.org" }],
        ["assistant", { type: "source", title: "A book" }],
        ["assistant", { type: "error", message: "It failed" }],
        ["assistant", { type: "data", data: { a: 1 } }],
        ["system", { type: "system", text: "Summary" }],
        ["assistant", { type: "thinking", text: "" }],
      ],
      "",
    );
    for (const line of [
      "# c1",
      "*File: [a.png, image/png]*",
      "<https://example.org>",
      "*Source: A book*",
      "**Error**: It failed",
      "> Summary",
    ]) {
      expect(text).toContain(line);
    }
    expect(text).not.toContain("AAAA");
  });
});
