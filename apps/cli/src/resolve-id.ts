import type { ParleyClient } from "@parley/client";
import { ParleyRequestError } from "@parley/client";
import type { ConversationMeta } from "@parley/wire";
import { CliError, usageError } from "./cli-error.js";
import { suggest } from "./config/suggest.js";
import { counted } from "./terminal/figures.js";
import { safeLine } from "./terminal/safe-text.js";
import { clip } from "./terminal/text-width.js";

/** The ways to name a conversation, for help texts. */
export const idHelp = "an id or the beginning of one; @ is the newest conversation, @2 the one before";

/**
 * The conversation that a word names: its id, the beginning of its id if no other begins so, or its place in the list
 * (`@`, `@2`).
 */
export async function resolveConversation(client: ParleyClient, word: string): Promise<string> {
  // An unset variable of a script must not name whatever there is.
  if (word.trim() === "") throw usageError("The conversation's id is empty.", `It is ${idHelp}.`);
  const place = /^@(-?\d+|)$/.exec(word)?.[1];
  if (place !== undefined) return newest(client, place === "" ? 1 : Number(place));
  const { conversations } = await client.request("GET /conversations", { query: { q: word, limit: 50 } });
  const matching = conversations.filter(({ id }) => id.startsWith(word));
  if (matching.some(({ id }) => id === word)) return word;
  if (matching.length > 1) throw ambiguous(word, matching);
  const [only] = matching;
  if (only !== undefined) return only.id;
  if (await exists(client, word)) return word;
  throw await unknown(client, word, conversations);
}

async function newest(client: ParleyClient, place: number): Promise<string> {
  if (place < 1 || place > 1_000)
    throw usageError(`@${place} is no place in the list.`, "@1 is the newest conversation.");
  const { conversations } = await client.request("GET /conversations", { query: { limit: place } });
  const found = conversations[place - 1];
  if (found !== undefined) return found.id;
  const { length } = conversations;
  if (length === 0)
    throw new CliError("There is no conversation yet.", { advice: 'Begin one: parley run "Hello!"' });
  throw new CliError(`There ${length === 1 ? "is" : "are"} only ${counted(length, "conversation")}.`, {
    advice: "`parley ls` lists the conversations.",
  });
}

/** Archives are not in the list, but can be named in full. */
async function exists(client: ParleyClient, id: string): Promise<boolean> {
  if (!/^[A-Za-z0-9._:-]{1,128}$/.test(id)) return false;
  try {
    await client.request("GET /conversations/:id/meta", { params: { id } });
    return true;
  } catch (error) {
    if (error instanceof ParleyRequestError && error.code === "conversation_not_found") return false;
    throw error;
  }
}

function ambiguous(word: string, matching: readonly ConversationMeta[]): CliError {
  const shown = matching.slice(0, 8).map(({ id, title }) => `  ${id}  ${clip(safeLine(title), 50)}`);
  const more = matching.length > 8 ? [`  and ${matching.length - 8} more`] : [];
  return usageError(
    [`"${word}" begins the ids of ${matching.length} conversations:`, ...shown, ...more].join("\n"),
    "Write more of the id.",
  );
}

async function unknown(
  client: ParleyClient,
  word: string,
  byTitle: readonly ConversationMeta[],
): Promise<CliError> {
  if (byTitle.length > 0) {
    const shown = byTitle.slice(0, 5).map(({ id, title }) => `  ${id}  ${clip(safeLine(title), 50)}`);
    return new CliError(
      [`No conversation's id begins with "${word}". These titles contain it:`, ...shown].join("\n"),
      { advice: "Use the id of one of them." },
    );
  }
  const { conversations } = await client.request("GET /conversations", { query: { limit: 50 } });
  const meant = suggest(
    word,
    conversations.map(({ id }) => id.slice(0, Math.max(8, word.length))),
  );
  return new CliError(`No conversation's id begins with "${word}".`, {
    advice: meant === undefined ? "`parley ls` lists the conversations." : `Did you mean ${meant}?`,
  });
}

/** The one of a list that a word names, by its id or by the beginning of it. */
export function resolveAmong(word: string, ids: readonly string[], what: string): string {
  if (word.trim() === "") throw usageError(`The id of the ${what} is empty.`);
  const matching = ids.includes(word) ? [word] : ids.filter((id) => id.startsWith(word));
  const [only] = matching;
  if (matching.length === 1 && only !== undefined) return only;
  if (matching.length > 1)
    throw usageError(
      `"${word}" begins ${matching.length} ids: ${matching.slice(0, 8).join(", ")}.`,
      "Write more of the id.",
    );
  throw new CliError(`There is no ${what} "${word}".`, {
    advice:
      ids.length === 0
        ? `There is none at all.`
        : `There ${ids.length === 1 ? "is" : "are"} ${ids.slice(0, 8).join(", ")}.`,
  });
}

/** Shortens each id to the characters that distinguish it from the others, and to no fewer than are easy to read. */
export function shortIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const sorted = [...ids].sort();
  const common = (left: string | undefined, right: string) => {
    let length = 0;
    while (left !== undefined && length < right.length && left[length] === right[length]) length += 1;
    return length;
  };
  return new Map(
    sorted.map((id, index) => {
      const needed = Math.max(common(sorted[index - 1], id), common(sorted[index + 1], id)) + 1;
      return [id, id.slice(0, Math.max(8, needed))];
    }),
  );
}
