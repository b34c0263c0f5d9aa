import { invalidField } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { ForkInput, ForkResult, OpenedTurn } from "@parley/core/ports";
import type { Connection } from "../../database.js";
import { messageRow } from "../../message-row.js";
import { contextSizePlace, modelPlace } from "../../packed-metrics.js";
import { settingsFrom } from "../../settings-columns.js";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { jumpOf, jumpTables, lineage } from "../reading/lineage.js";
import { requireRecord } from "../reading/record.js";
import { checkConversationId } from "../refusals.js";
import { admitInto } from "../turns/admit.js";
import { type Head, requireHead } from "../turns/head.js";
import { stillOpened } from "../turns/open-turn.js";
import { knownAdmission } from "../turns/receipts.js";
import { moveBranch } from "./branch-pointer.js";
import { markCompactedFrom } from "./compaction-in-force.js";
import { createConversationRow } from "./create-conversation.js";

/**
 * Creates a fork as a row that names its parent: nothing is copied, however long the log. The origin is locked
 * meanwhile, so that it cannot be removed before the fork exists and keeps what they share.
 */
export function fork(store: StoreContext, owner: string, input: ForkInput): Promise<ForkResult> {
  const { newId, atSeq, admit } = input;
  return store.database.transaction(async (connection) => {
    const origin = await requireHead(connection, owner, input.conversationId);
    const row = admit === undefined ? undefined : messageRow(admit.message, newId, store.maxBytes);
    checkConversationId(newId);
    const existing = await findLog(connection, owner, newId);
    if (existing !== undefined) {
      const forked = await forkedBefore(connection, owner, { existing, origin }, input);
      await moveBranch(connection, owner, input.chatId, forked.conversation.log);
      return forked;
    }
    if (!(await isForkPoint(connection, owner, origin, atSeq))) {
      throw invalidField("atSeq", "a fork leaves where a sealed turn ends, or at 0");
    }
    await addFork(store, connection, owner, origin, {
      id: newId,
      atSeq,
      title: input.title ?? origin.title,
    });
    let turn: OpenedTurn | undefined;
    if (admit !== undefined && row !== undefined) {
      const head = await requireHead(connection, owner, newId);
      const outcome = await admitInto(store, connection, head, admit, row, true);
      if (outcome.kind === "started") turn = outcome.turn;
    }
    const conversation = await requireRecord(connection, owner, newId);
    await moveBranch(connection, owner, input.chatId, conversation.log);
    return { conversation, created: true, ...omitUndefined({ turn }) };
  });
}

/** Creates a log that continues another one after `atSeq`, with its settings and what was in force there. */
export async function addFork(
  store: StoreContext,
  connection: Connection,
  owner: string,
  origin: Head,
  input: { id: string; atSeq: number; title: string; isArchive?: boolean },
): Promise<number> {
  const { id, atSeq, isArchive = false } = input;
  const created = await createConversationRow(store, connection, {
    id,
    owner,
    title: input.title,
    settings: {},
    reported: isArchive ? false : { parentId: origin.conversationId },
  });
  // Another transaction created it between our read and our insert, and our insert waited for its commit.
  if (created === undefined) throw invalidField("id", "used by another conversation");
  const log = created;
  await connection.batch([
    {
      text: `
UPDATE parley.conversation f SET parent = o.log, parent_seq = $3, archive_of = $4, status = $5, ${jumpOf("$3::int4")},
  ${settingsFrom("o")}
FROM parley.conversation o ${jumpTables} WHERE f.log = $1 AND o.log = $2`,
      values: [log, origin.log, atSeq, isArchive ? origin.log : null, isArchive ? "closed" : "open"],
    },
    {
      text: "UPDATE parley.conversation_head SET next_seq = $2::int4 + 1, sealed_seq = $2::int4 WHERE log = $1",
      values: [log, atSeq],
    },
    {
      text: `INSERT INTO parley.compaction (log, seq, kind)
        SELECT $1::int8, seq, kind FROM parley.compaction WHERE log = $2 AND kind = 'undone' AND seq <= $3`,
      values: [log, origin.log, atSeq],
    },
    {
      text: `${lineage()}
UPDATE parley.conversation SET context_size = (${newest(`(${contextSize})::float8`)}),
  last_model = coalesce((${newest(turnModel)}), (SELECT last_model FROM parley.conversation WHERE log = $3))
WHERE owner = $2 AND id = $1 AND status <> 'removed'`,
      values: [id, owner, origin.log],
    },
  ]);
  if (origin.compactedFrom) await markCompactedFrom(connection, owner, id);
  return log;
}

const contextSize = metric("contextSize", contextSizePlace);
const turnModel = `coalesce(t.model, ${metric("model", modelPlace)})`;

/** Selects a field of a turn's metrics, packed or not. */
function metric(name: string, place: number): string {
  return `CASE json_typeof(t.metrics) WHEN 'array' THEN t.metrics->>${place} ELSE t.metrics->>'${name}' END`;
}

/** Selects a value from the newest sealed turn of the lineage that has one. */
function newest(value: string): string {
  return `SELECT n.value FROM lineage l
  CROSS JOIN LATERAL (
    SELECT ${value} AS value FROM parley.conversation_turn t
    WHERE t.log = l.log AND t.last_seq <= l.through AND t.status = 'sealed' AND ${value} IS NOT NULL
    ORDER BY t.ordinal DESC LIMIT 1
  ) n LIMIT 1`;
}

interface ExistingLog {
  readonly parent: number | null;
  readonly parentSeq: number | null;
  readonly archive: boolean;
}

async function findLog(connection: Connection, owner: string, id: string): Promise<ExistingLog | undefined> {
  const [row] = await connection.query({
    text: `SELECT parent::float8 AS parent, parent_seq, archive_of IS NOT NULL AS archive FROM parley.conversation
      WHERE owner = $2 AND id = $1 AND status <> 'removed'`,
    values: [storedText(id), owner],
  });
  if (row === undefined) return undefined;
  return {
    parent: row.parent as number | null,
    parentSeq: row.parent_seq as number | null,
    archive: row.archive === true,
  };
}

async function forkedBefore(
  connection: Connection,
  owner: string,
  { existing, origin }: { readonly existing: ExistingLog; readonly origin: Head },
  input: ForkInput,
): Promise<ForkResult> {
  const { newId, admit } = input;
  const { parent, parentSeq, archive } = existing;
  const same = parent === origin.log && parentSeq === input.atSeq && !archive;
  if (!same) throw invalidField("id", "used by another conversation");
  let turn: OpenedTurn | undefined;
  if (admit !== undefined) {
    const head = await requireHead(connection, owner, newId);
    const known = await knownAdmission(connection, head, admit);
    // Fork and message are one transaction: a fork that lacks the message is another one.
    if (known === undefined) throw invalidField("id", "the fork exists, with another message or none");
    if (known.turnId !== undefined) {
      turn = await stillOpened(connection, head, known.turnId, admit.node);
    }
  }
  const conversation = await requireRecord(connection, owner, newId);
  return { conversation, created: false, ...omitUndefined({ turn }) };
}

/** Returns true if a fork may start after `seq`: at the beginning, or at the end of something sealed. */
async function isForkPoint(
  connection: Connection,
  owner: string,
  origin: Head,
  seq: number,
): Promise<boolean> {
  if (seq === 0) return true;
  if (!Number.isSafeInteger(seq) || seq < 0 || seq > origin.sealedSeq) return false;
  const [row] = await connection.query({
    text: `${lineage({ above: "($3::int4 - 1)", upTo: "$3::int4" })}, nearest AS (
  SELECT log FROM lineage WHERE floor < $3::int4 AND through >= $3::int4 LIMIT 1
)
SELECT m.first_seq + m.part_count - 1 AS last_seq, m.turn IS NULL AS outside, t.last_seq AS turn_last_seq
FROM nearest n
CROSS JOIN LATERAL (
  SELECT * FROM parley.conversation_message WHERE log = n.log AND first_seq <= $3 ORDER BY first_seq DESC LIMIT 1
) m
LEFT JOIN parley.conversation_turn t ON t.log = n.log AND t.ordinal = m.turn`,
    values: [storedText(origin.conversationId), owner, seq],
  });
  if (row?.last_seq !== seq) return false;
  return row.outside === true || row.turn_last_seq === seq;
}
