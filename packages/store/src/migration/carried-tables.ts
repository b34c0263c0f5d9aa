/** A column of the new table, and the expression over the old row `o` that fills it. */
interface CarriedColumn {
  readonly name: string;
  from(older: string): string;
}

/** A table of the version that had its tables in `public`, and the conversion of its rows to those of this one. */
export interface CarriedTable {
  /** Name, the same in both. */
  readonly name: string;
  /** The primary key that it had, by which it is read. */
  readonly key: readonly { readonly name: string; readonly type: "text" | "int4" | "int8" }[];
  readonly columns: readonly CarriedColumn[];
  /** Other sources of the columns, joined to `o`. */
  join?(older: string): string;
}

const text = (name: string) => ({ name, type: "text" as const });
const int = (name: string) => ({ name, type: "int4" as const });

/** Returns columns that are copied unchanged. */
function same(...names: string[]): CarriedColumn[] {
  return names.map((name) => ({ name, from: () => `o.${name}` }));
}

function made(name: string, from: (older: string) => string): CarriedColumn {
  return { name, from };
}

/** Log of the row's conversation, after `ofConversation`. */
const log = made("log", () => "k.log");
const ofConversation = (older: string) => `JOIN ${older}.conversation k ON k.id = o.conversation_id`;

const parent = (older: string) => `(SELECT p.log FROM ${older}.conversation p WHERE p.id = o.parent_id)`;
const archive = (older: string, id: string) =>
  `(SELECT a.log FROM ${older}.conversation a WHERE a.id = ${id} AND a.archive_of IS NOT NULL)`;

/** Tables in the order in which they are copied; a table that refers to another one is behind it. */
export const carriedTables: readonly CarriedTable[] = [
  {
    name: "conversation",
    key: [text("id")],
    columns: [
      ...same("log", "owner"),
      // A removed log whose id was used again had another key: `~`, a unique text, `~`, and the id.
      made(
        "id",
        () => "CASE WHEN o.id LIKE '~%' THEN substr(o.id, strpos(substr(o.id, 2), '~') + 2) ELSE o.id END",
      ),
      ...same("title", "status", "model", "effort", "instructions", "compact_threshold", "queue_paused"),
      ...same("metadata", "parent_seq", "context_size", "last_model"),
      ...same("created_at", "last_activity_at", "updated_at", "changed_at"),
      made("parent", parent),
      // An archive continues the log that it archives.
      made("archive_of", (older) => `CASE WHEN o.archive_of IS NOT NULL THEN ${parent(older)} END`),
      made(
        "compacted_from",
        (older) =>
          `CASE WHEN o.compacted_from IS NOT NULL THEN coalesce(${archive(older, "o.compacted_from")}, 0) END`,
      ),
    ],
  },
  {
    name: "conversation_head",
    key: [text("conversation_id")],
    columns: [
      ...same("log", "owner", "next_seq", "sealed_seq", "turn_count", "turn_id", "compaction_id", "node"),
      ...same("fence", "stop_requested_at", "started_at", "active_at"),
    ],
  },
  {
    name: "conversation_message",
    key: [int("log"), int("first_seq")],
    columns: [
      ...same("created_at", "id_key", "log", "first_seq", "part_count", "turn", "covers_from", "covers_to"),
      ...same("id", "role", "type", "step", "resource_id", "body_hash", "content"),
    ],
  },
  {
    name: "conversation_turn",
    key: [int("log"), int("ordinal")],
    columns: [
      ...same("started_at", "sealed_at", "log", "ordinal", "first_seq", "last_seq", "sealed_fence", "id"),
      ...same("status", "reason", "model", "effort", "instructions", "next_turn_id", "steps", "metrics"),
      ...same("provider_calls", "appended"),
    ],
  },
  {
    name: "turn_journal",
    key: [text("conversation_id"), text("turn_id"), int("first_n")],
    // Rows of a turn that is not open are never read: they are not copied.
    join: (older) =>
      `JOIN ${older}.conversation_head k ON k.conversation_id = o.conversation_id AND k.turn_id = o.turn_id`,
    columns: [log, made("turn", () => "k.turn_count"), ...same("first_n", "event_count", "epoch", "data")],
  },
  {
    name: "queued_message",
    key: [text("conversation_id"), text("id")],
    join: ofConversation,
    columns: [
      log,
      ...same("id", "rank", "mode", "model", "effort", "instructions", "role", "type", "content"),
      ...same("created_at", "resource_id", "part_count", "queued_at"),
    ],
  },
  {
    name: "receipt",
    key: [text("conversation_id"), text("message_id")],
    join: ofConversation,
    columns: [log, ...same("message_id", "body_hash", "outcome", "turn_id")],
  },
  {
    name: "compaction",
    key: [text("conversation_id"), int("seq"), text("kind")],
    join: ofConversation,
    columns: [
      log,
      ...same("seq", "kind", "from_seq", "to_seq"),
      made("archive", (older) => archive(older, "o.archive_id")),
    ],
  },
  {
    name: "conversation_notice",
    key: [text("owner"), { name: "changed_at", type: "int8" }],
    columns: same("owner", "changed_at", "kind", "data", "noted_at"),
  },
  {
    name: "search_owner",
    key: [int("number")],
    columns: same("number", "owner", "through", "open"),
  },
  {
    name: "search_entry",
    key: [int("log"), int("first_seq")],
    columns: same("created_ms", "owner", "log", "first_seq", "words"),
  },
  { name: "node", key: [text("id")], columns: same("id", "until") },
  {
    name: "api_key",
    key: [text("id")],
    columns: same("id", "owner", "hash", "prefix", "scopes", "created_at", "last_used_at"),
  },
  {
    name: "login",
    key: [text("id")],
    columns: same("id", "key_id", "owner", "hash", "created_at", "last_used_at", "expires_at"),
  },
];
