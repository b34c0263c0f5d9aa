import { readStored, writeStored } from "../app/stored.js";

/** The draft of a conversation that does not exist yet. */
export const newDraft = "new";

const prefix = "parley.draft.";
const indexKey = "parley.drafts";
const mostDrafts = 50;
/** Longest draft that is stored: a browser stores little, so a longer draft is kept in the tab only. */
const longestKept = 100_000;

const inTab = new Map<string, string>();

/** Returns what was typed and not sent in a conversation; survives a reload. */
export function readDraft(conversationId: string): string {
  return inTab.get(conversationId) ?? readStored(prefix + conversationId) ?? "";
}

/** Stores what was typed. Drops the oldest drafts when there are very many. */
export function writeDraft(conversationId: string, text: string): void {
  const kept = readIndex().filter((id) => id !== conversationId);
  if (text === "") {
    inTab.delete(conversationId);
    writeStored(prefix + conversationId, null);
    writeIndex(kept);
    return;
  }
  inTab.set(conversationId, text);
  if (text.length > longestKept) return;
  writeStored(prefix + conversationId, text);
  const all = [...kept, conversationId];
  for (const oldest of all.splice(0, Math.max(0, all.length - mostDrafts)))
    writeStored(prefix + oldest, null);
  writeIndex(all);
}

/** The fields that show a draft now, by conversation. */
const fields = new Map<string, (text: string) => void>();

/** Registers a field that shows a draft and receives text that is put back. Returns a function that unregisters it. */
export function showDraft(conversationId: string, putInFront: (text: string) => void): () => void {
  fields.set(conversationId, putInFront);
  return () => {
    if (fields.get(conversationId) === putInFront) fields.delete(conversationId);
  };
}

/** Puts text back in front of what was typed since, in the shown field or in the stored draft. */
export function putBack(conversationId: string, text: string): void {
  const field = fields.get(conversationId);
  if (field === undefined) writeDraft(conversationId, inFront(text, readDraft(conversationId)));
  else field(text);
}

/** Returns a text in front of another one, on lines of its own. */
export function inFront(text: string, typed: string): string {
  return typed === "" ? text : `${text}\n${typed}`;
}

function readIndex(): string[] {
  const stored = readStored(indexKey);
  return stored === null || stored === "" ? [] : stored.split("\n");
}

function writeIndex(ids: readonly string[]): void {
  writeStored(indexKey, ids.length === 0 ? null : ids.join("\n"));
}
