import type { ExportLine, ImportResponse } from "@parley/wire";
import type { LogStore } from "../../ports/log-store.js";
import { checkId } from "../admission/inbox.js";
import { type Defaults, toMeta } from "../conversation-meta.js";
import type { Environment } from "../environment.js";
import { ImportLines } from "./import-lines.js";

/**
 * Reads an export to its end, then writes it in one transaction: a file that is refused leaves nothing behind.
 * Message and turn ids stay as they are; they are unique only within their conversation.
 */
export async function importConversation(
  env: Defaults & Pick<Environment, "limits">,
  store: LogStore,
  lines: AsyncIterable<ExportLine> | Iterable<ExportLine>,
  id: string | undefined,
): Promise<{ readonly log: number; readonly response: ImportResponse }> {
  if (id !== undefined) checkId("id", id);
  const reader = new ImportLines(env.limits.importBytes);
  for await (const line of lines) reader.take(line);
  const input = reader.finish(id);
  checkId("conversation.id", input.conversationId);
  const { conversation, created } = await store.importConversation(input);
  const response = {
    conversation: toMeta(env, conversation),
    created,
    messages: input.entries.length,
    turns: input.turns.length,
  };
  return { log: conversation.log, response };
}
