import { usageError } from "../../cli-error.js";
import { resolveConversation } from "../../resolve-id.js";
import { counted, tokens } from "../../terminal/figures.js";
import { renderMarkdown } from "../../terminal/markdown.js";
import type { VerbContext } from "../../verb-context.js";

export interface CompactOptions {
  readonly keep?: number;
  readonly model?: string;
  readonly preview?: boolean;
  readonly undo?: boolean;
  readonly json?: boolean;
}

/** Replaces older messages by a summary, for the model only; or previews or undoes that. */
export async function compact(word: string, options: CompactOptions, context: VerbContext): Promise<void> {
  const { io, signal } = context;
  if (options.preview && options.undo)
    throw usageError("--preview and --undo exclude each other.", "Leave one of them out.");
  const client = await context.client();
  const id = await resolveConversation(client, word);
  const params = { id };
  const body = { keepLastN: options.keep, modelName: options.model };
  if (options.undo) {
    const undone = await client.request("POST /conversations/:id/compact/undo", { params });
    if (options.json) return io.json(undone);
    return io.note(`The model sees again what the newest compaction of ${id} had covered.`);
  }
  if (options.preview) {
    const preview = await client.request("POST /conversations/:id/compact/preview", { params, body, signal });
    if (options.json) return io.json(preview);
    io.line(
      `A summary would cover ${counted(preview.messagesSummarized, "message")} (entries ${preview.firstSeq} to ${preview.lastSeq}, about ${tokens(preview.estimatedTokens)} tokens) and leave ${counted(preview.messagesKept, "message")} as they are.`,
    );
    return io.note("Nothing was changed.");
  }
  io.progress("The model writes a summary ...");
  const result = await client.request("POST /conversations/:id/compact", { params, body, signal });
  io.endProgress();
  if (options.json) return io.json(result);
  io.lines(renderMarkdown(result.summary, { columns: io.columns ?? 100, style: io.style }));
  io.note(
    `The summary stands for ${counted(result.messagesSummarized, "message")}; ${counted(result.messagesKept, "message")} stay as they are. The log itself is whole, and --undo takes the summary back. As it was: parley show ${result.newConversationId}`,
  );
}
