import type { JournalBatch } from "@parley/core/ports";
import { forOwners, type StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";

/**
 * Writes the batches of all running turns by one statement: it locks their heads in the order of logs (without an order
 * two such statements would lock each other out), compares fences on the locked rows, and writes what is still held.
 * The lateral join reads one head after the other by its key; for a list of logs the planner may read all heads
 * instead.
 *
 * Alternatives: a statement per turn costs a commit each; a fence that is compared without the lock can be passed while
 * a take-over reads the journal, which then loses the row.
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
  const owned = store.isShard ? forOwners(store, batches.map(ownerOf)) : store;
  if (other === undefined) return [await flushOne(owned, batch)];
  const rows = await owned.database.query({
    name: "flush_journal",
    text: flushTexts.many,
    values: [
      batches.map((batch) => batch.log),
      batches.map((batch) => storedText(batch.owner)),
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

function ownerOf({ owner }: JournalBatch): string {
  return storedText(owner);
}

async function flushOne(store: StoreContext, batch: JournalBatch): Promise<"ok" | "stale_fence"> {
  const { log, owner, turnId, fence, firstN, count, data } = batch;
  const [held] = await store.database.query({
    name: "flush_journal_one",
    text: flushTexts.one,
    values: [log, storedText(owner), storedText(turnId), fence, firstN, count, storedText(data)],
  });
  return held === undefined ? "stale_fence" : "ok";
}

/** Form for the batch of one turn, or for those of any number of turns. */
export type FlushForm = "one" | "many";

/** Texts of both forms. Exported because tests hold them open. */
export const flushTexts: Record<FlushForm, string> = {
  one: `
WITH locked AS MATERIALIZED (
  SELECT turn_id, turn_count, fence, waiting_since FROM parley.conversation_head
  WHERE log = $1::int8 AND owner = $2 FOR UPDATE
), held AS MATERIALIZED (
  SELECT turn_count, fence FROM locked WHERE turn_id = $3 AND fence = $4::int4 AND waiting_since IS NULL
), written AS (
  INSERT INTO parley.turn_journal (log, turn, first_n, event_count, epoch, data)
  SELECT $1::int8, turn_count, $5::int4, $6::int4, fence, $7 FROM held
  ON CONFLICT DO NOTHING
)
SELECT fence FROM held`,
  many: `
WITH given AS MATERIALIZED (
  SELECT * FROM unnest($1::int8[], $2::text[], $3::text[], $4::int4[], $5::int4[], $6::int4[], $7::text[])
    WITH ORDINALITY AS g(log, owner, turn_id, fence, first_n, event_count, data, place)
), locked AS MATERIALIZED (
  SELECT h.* FROM (SELECT DISTINCT log FROM given ORDER BY log) AS wanted
  CROSS JOIN LATERAL (
    SELECT log, owner, turn_id, turn_count, fence, waiting_since FROM parley.conversation_head
    WHERE log = wanted.log FOR UPDATE
  ) AS h
), held AS (
  SELECT given.*, locked.turn_count FROM given JOIN locked USING (log, owner, turn_id, fence)
  WHERE locked.waiting_since IS NULL
), written AS (
  INSERT INTO parley.turn_journal (log, turn, first_n, event_count, epoch, data)
  SELECT log, turn_count, first_n, event_count, fence, data FROM held
  ON CONFLICT DO NOTHING
)
SELECT place::int4 AS place FROM held`,
};
