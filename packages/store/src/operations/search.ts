import { textOf } from "@parley/core/messages";
import type { LogStore, SearchHit } from "@parley/core/ports";
import { messageColumns, messagesOf, readMessage } from "../message-row.js";
import type { StoreContext } from "../store-context.js";
import { originalText, storedText } from "../stored-text.js";
import { lineage } from "./lineage.js";

/** How many characters stand on each side of the first hit. */
const snippetMargin = 60;

const wanted = "plainto_tsquery('pg_catalog.simple', plain_words($3))";

/**
 * Messages that hold all words of the query, newest first, by the index of their words. Not prepared: a plan that is
 * made without knowing the words cannot know how many messages hold them.
 */
export async function search(
  store: StoreContext,
  owner: string,
  query: Parameters<LogStore["search"]>[0],
): Promise<SearchHit[]> {
  const { conversationId, q } = query;
  const limit = Math.min(Math.ceil(query.limit), 10_000);
  if (!(limit > 0)) return [];
  const rows = await store.database.query(
    conversationId === undefined
      ? { text: searchText, values: [limit, owner, storedText(q)] }
      : {
          text: searchWithinText,
          values: [storedText(conversationId), owner, storedText(q), limit],
        },
  );
  const words = Array.from(q.matchAll(/[\p{L}\p{N}]+/gu), ([word]) => word.toLowerCase());
  return rows.map((row) => {
    const id = conversationId ?? String(row.thread_id);
    const text = messagesOf(readMessage(row), id).map(textOf).join(" ");
    return {
      conversationId: id,
      title: originalText(String(row.title)),
      seq: Number(row.first_seq),
      role: row.role as SearchHit["role"],
      snippet: snippetOf(text, words),
      createdAt: Math.round(Number(row.created_ms)),
    };
  });
}

/** What an archive shows stands in its origin. */
const searchText = `
SELECT m.thread_id, c.title, ${messageColumns}
FROM conversation_message m JOIN conversation c ON c.id = m.thread_id
WHERE c.owner = $2 AND c.archive_of IS NULL AND c.status <> 'removed' AND message_words(m.content) @@ ${wanted}
ORDER BY m.created_at DESC, m.first_seq DESC LIMIT $1::int4`;

const searchWithinText = `${lineage()}
SELECT c.title, ${messageColumns}
FROM lineage l JOIN conversation_message m ON m.log = l.log AND m.first_seq <= l.through
JOIN conversation c ON c.id = $1
WHERE message_words(m.content) @@ ${wanted}
ORDER BY m.first_seq DESC LIMIT $4::int4`;

/** The text around the first word that is found in it. */
function snippetOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  let first = Number.POSITIVE_INFINITY;
  for (const word of words) {
    const place = wordAt(lower, word);
    if (place >= 0) first = Math.min(first, place);
  }
  const at = Number.isFinite(first) ? first : 0;
  return text.slice(Math.max(0, at - snippetMargin), at + snippetMargin);
}

function wordAt(text: string, word: string): number {
  let place = text.indexOf(word);
  while (place > 0 && /[\p{L}\p{N}]/u.test(text.charAt(place - 1))) place = text.indexOf(word, place + 1);
  return place;
}
