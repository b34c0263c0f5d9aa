import type { News, NewsQuery } from "@parley/core/ports";
import { forOwners, type StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";

/**
 * Reads news in one round trip for all that are watched; a query for each would be a burst with every poll. Each row of
 * the lists is one probe of an index; the conditions are written so that no plan can read whole tables instead.
 */
export async function news(store: StoreContext, query: NewsQuery): Promise<News> {
  const { owners, conversations } = query;
  const asked = [...owners, ...conversations].map(({ owner }) => storedText(owner));
  const [changed = [], moved = []] = await forOwners(store, asked).database.batch([
    {
      name: "news_owners",
      text: changedText,
      values: [
        owners.map(({ owner }) => storedText(owner)),
        owners.map(({ since }) => since),
        // Owners that came from another shard may have numbers there that owners have here.
        owners.flatMap(({ owner, published = [] }) => published.map(() => storedText(owner))),
        owners.flatMap(({ published = [] }) => published),
      ],
    },
    {
      name: "news_conversations",
      text: movedText,
      values: [
        conversations.map(({ log }) => log),
        conversations.map(({ owner }) => storedText(owner)),
        conversations.map(({ seq }) => seq),
      ],
    },
  ]);
  return {
    owners: changed.map(({ owner }) => originalText(String(owner))),
    conversations: moved.map(({ log }) => Number(log)),
  };
}

const changedText = `SELECT w.owner FROM unnest($1::text[], $2::float8[]) AS w(owner, since)
WHERE (
    SELECT true FROM parley.conversation c WHERE c.owner = w.owner AND c.changed_at > w.since::int8 AND c.archive_of IS NULL
      AND c.status <> 'removed' AND NOT EXISTS (
        SELECT FROM unnest($3::text[], $4::float8[]) AS p(owner, change)
        WHERE p.owner = w.owner AND p.change::int8 = c.changed_at)
    ORDER BY c.changed_at LIMIT 1)
  OR EXISTS (SELECT FROM parley.conversation_notice n WHERE n.owner = w.owner AND n.changed_at > w.since::int8)`;

const movedText = `SELECT w.log::float8 AS log FROM unnest($1::int8[], $2::text[], $3::int4[]) AS w(log, owner, seq)
LEFT JOIN LATERAL (
  SELECT h.owner, h.turn_id, h.waiting_since, h.next_seq FROM parley.conversation_head h
  WHERE h.log = w.log OFFSET 0
) AS h ON true
WHERE h.owner IS DISTINCT FROM w.owner OR (h.turn_id IS NOT NULL AND h.waiting_since IS NULL)
  OR h.next_seq > w.seq + 1`;
