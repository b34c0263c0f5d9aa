import type { JournalBatch } from "@parley/core/ports";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";

/**
 * One statement for the batches of all running turns: it locks their heads in the order of ids (without an order two
 * such statements would lock each other out), compares fences on the locked rows, and writes what is still held. The
 * lateral look takes one head after the other by its key; for a list of ids the planner may read all heads instead.
 *
 * Alternatives: a statement per turn costs a commit each; a fence that is compared without the lock can be passed
 * while a take-over reads the journal, which then loses the row.
 *
 * A turn that runs alone has a statement with the same locks and no lists, whose plan the server keeps: it would plan
 * the other one again with every call, for lists of another length.
 */
export async function flushJournal(
  store: StoreContext,
  batches: readonly JournalBatch[],
): Promise<("ok" | "stale_fence")[]> {
  const [batch, other] = batches;
  if (batch === undefined) return [];
  if (other === undefined) return [await flushOne(store, batch)];
  const rows = await store.database.query({
    name: "flush_journal",
    text: flushTexts.many,
    values: [
      batches.map((batch) => storedText(batch.conversationId)),
      batches.map((batch) => storedText(batch.turnId)),
      batches.map((batch) => batch.fence),
      batches.map((batch) => batch.firstN),
      batches.map((batch) => batch.count),
      batches.map((batch) => storedText(batch.data)),
    ],
  });
  const held = new Set(rows.map((row) => Number(row.place)));
  return batches.map((_, index) => (held.has(index + 1) ? "ok" : "stale_fence"));
}

async function flushOne(store: StoreContext, batch: JournalBatch): Promise<"ok" | "stale_fence"> {
  const { conversationId, turnId, fence, firstN, count, data } = batch;
  const [held] = await store.database.query({
    name: "flush_journal_one",
    text: flushTexts.one,
    values: [storedText(conversationId), storedText(turnId), fence, firstN, count, storedText(data)],
  });
  return held === undefined ? "stale_fence" : "ok";
}

/** For the batch of one turn, or for those of any number of turns. */
export type FlushForm = "one" | "many";

/** Also what tests hold open. */
export const flushTexts: Record<FlushForm, string> = {
  one: `
WITH locked AS MATERIALIZED (
  SELECT turn_id, fence FROM conversation_head WHERE conversation_id = $1 FOR UPDATE
), held AS MATERIALIZED (
  SELECT fence FROM locked WHERE turn_id = $2 AND fence = $3::int4
), written AS (
  INSERT INTO turn_journal (conversation_id, turn_id, first_n, event_count, epoch, data)
  SELECT $1, $2, $4::int4, $5::int4, fence, $6 FROM held
  ON CONFLICT DO NOTHING
)
SELECT fence FROM held`,
  many: `
WITH given AS MATERIALIZED (
  SELECT * FROM unnest($1::text[], $2::text[], $3::int4[], $4::int4[], $5::int4[], $6::text[])
    WITH ORDINALITY AS g(conversation_id, turn_id, fence, first_n, event_count, data, place)
), locked AS MATERIALIZED (
  SELECT h.* FROM (SELECT DISTINCT conversation_id FROM given ORDER BY conversation_id) AS wanted
  CROSS JOIN LATERAL (
    SELECT conversation_id, turn_id, fence FROM conversation_head
    WHERE conversation_id = wanted.conversation_id FOR UPDATE
  ) AS h
), held AS (
  SELECT given.* FROM given JOIN locked USING (conversation_id, turn_id, fence)
), written AS (
  INSERT INTO turn_journal (conversation_id, turn_id, first_n, event_count, epoch, data)
  SELECT conversation_id, turn_id, first_n, event_count, fence, data FROM held
  ON CONFLICT DO NOTHING
)
SELECT place::int4 AS place FROM held`,
};
