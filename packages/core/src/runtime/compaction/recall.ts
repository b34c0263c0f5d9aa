import { textOf } from "../../messages/message.js";
import { argumentsTextOf, resultTextOf } from "../../messages/part.js";
import { fromChunks } from "../../messages/wire-chunks.js";
import type { LogStore } from "../../ports/log-store.js";
import { type Tool, toolOutput } from "../../turn/tools/tool.js";

export const recallToolName = "recall";

const mostCharacters = 20_000;
const mostChunks = 200;

/**
 * Lets the model read again what a compaction covered: the log is whole, only the context was shortened. Offered
 * to conversations that were compacted.
 */
export function recallTool(
  store: LogStore,
  conversationId: string,
): Tool<{ fromSeq: number; toSeq?: number }> {
  return {
    name: recallToolName,
    description:
      "Reads earlier messages of this conversation word for word, when its summary is not enough. Messages are numbered from 1; the summary says which numbers it covers.",
    recovery: "retry",
    schema: {
      type: "object",
      properties: {
        fromSeq: { type: "integer", minimum: 1, description: "The first number to read." },
        toSeq: {
          type: "integer",
          minimum: 1,
          description: `The last number to read; at most ${mostChunks} at once.`,
        },
      },
      required: ["fromSeq"],
      additionalProperties: false,
    },
    async execute({ fromSeq, toSeq }) {
      const last = Math.min(toSeq ?? fromSeq + mostChunks - 1, fromSeq + mostChunks - 1);
      if (last < fromSeq) return toolOutput(`toSeq (${last}) must not be below fromSeq (${fromSeq})`, true);
      const { chunks } = await store.readChunks({
        conversationId,
        sinceSeq: fromSeq - 1,
        beforeSeq: last + 1,
        // A long turn may have been compacted in its own middle.
        open: true,
      });
      const first = chunks[0];
      if (first === undefined) return toolOutput(`There is nothing from ${fromSeq} to ${last}.`, true);
      let text = "";
      for (const message of fromChunks(chunks, { conversationId })) {
        const lines = [textOf(message)];
        for (const part of message.content) {
          if (part.type === "tool-call") lines.push(`[calls ${part.name} ${argumentsTextOf(part)}]`);
          else if (part.type === "tool-result") lines.push(`[${part.name} answered: ${resultTextOf(part)}]`);
        }
        text += `${message.role}: ${lines.filter((line) => line !== "").join("\n")}\n\n`;
      }
      const read = `Messages ${first.seq} to ${chunks.at(-1)?.seq}:\n\n${text.trimEnd()}`;
      return read.length <= mostCharacters
        ? read
        : `${read.slice(0, mostCharacters)}\n[cut here: ask for fewer numbers at once]`;
    },
  };
}
